/** Hands a file to the browser of whoever sits here; only its name is in the process list. */
import { spawn } from 'node:child_process'
import type { VerbDeps } from '../../verb.js'

const openerOf = (platform: string, env: VerbDeps['env']): string | null => {
  if (platform === 'darwin') return 'open'
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : null
}

/** Tries to; where there is no screen, or no program for it, the file is opened by hand. */
export const openInBrowser = (deps: VerbDeps, file: string): void => {
  const opener = openerOf(process.platform, deps.env)
  if (opener === null || !deps.interactive) return
  spawn(opener, [file], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined).unref()
}

import { join, resolve } from 'node:path'
import type { CliDeps } from '../../deps.js'

/** The flag that every sandbox verb takes. */
export const dirFlag = [
  '--dir <dir>',
  'folder of the sandbox; sallyport-sandbox in $XDG_STATE_HOME or ~/.local/state unless given',
] as const

/**
 * The sandbox's folder: as given, or one of its own beside the default state directory, so that the
 * verbs find a running sandbox without being told.
 */
export const sandboxDir = ({ cwd, env, home }: CliDeps, given: string | undefined): string => {
  if (given !== undefined) return resolve(cwd, given)
  const base = env['XDG_STATE_HOME']
  // A relative XDG path counts as absent, as the XDG rules say.
  return join(base?.startsWith('/') ? base : join(home, '.local/state'), 'sallyport-sandbox')
}

/** A Mac's launchd beside the other stand-ins, on PATH: `children/launchctl.ts`. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { darwin } from '../../../src/base/platform/darwin.js'
import type { Place, RunOptions } from '../../world/place.js'
import { schedulers } from './schedulers.js'

const standIn = fileURLToPath(new URL('../children/launchctl.js', import.meta.url))

const namesIn = (folder: string): readonly string[] =>
  (existsSync(folder) ? readdirSync(folder).sort() : [])

/** Puts launchctl on the PATH of a place, and gives the options of runs that are on a Mac. */
export const launchd = (place: Place) => {
  const host = schedulers(place, { systemd: false })
  const kept = join(place.dir, 'launchd')
  mkdirSync(kept)
  // Most questions are about labels that are not loaded: these need no Node to start for them.
  const unloaded = (verb: string, status: number): string =>
    `":${verb} gui/$LAUNCHCTL_UID/"*) grep -qs "\\"\${2##*/}\\"" '${kept}/loaded.json'`
    + ` || exit ${status} ;;`
  host.program('launchctl', [
    'case "$LAUNCHCTL_FAILS$LAUNCHCTL_KILLS$LAUNCHCTL_DOMAIN:$1 $2" in',
    unloaded('print', 113), unloaded('bootout', 3), 'esac',
    `exec '${process.execPath}' '${standIn}' '${kept}' "$@"`,
  ].join('\n'))
  const home = join(place.dir, 'home')
  const [agents, logs] = [join(home, 'Library/LaunchAgents'), join(home, 'Library/Logs/sallyport')]
  const env = { ...host.options.env, HOME: home, LAUNCHCTL_UID: '1000' }
  const loaded = (): readonly string[] => {
    const file = join(kept, 'loaded.json')
    return existsSync(file)
      ? Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object).sort() : []
  }
  return {
    ...host, agents, logs, loaded,
    /** Every file that an install may leave, and every label. */
    left: () => [...namesIn(agents), ...namesIn(logs), ...loaded()],
    options: { system: darwin, env } satisfies RunOptions,
    /** launchctl as a person types it. */
    launchctl: (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      spawnSync('launchctl', words, { encoding: 'utf8', env: { ...env, ...more } }),
    disable: (label: string): void => writeFileSync(join(kept, `disabled-${label}`), ''),
    enable: (label: string): void => rmSync(join(kept, `disabled-${label}`)),
  }
}

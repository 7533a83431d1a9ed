/** Which timers of this state are installed on this machine. */
import { join } from 'node:path'
import type { Timers } from '../../../fabric/timers/contract.js'
import { cronLinesOf } from '../../../fabric/timers/crontab.js'
import { timerId } from '../../../fabric/timers/jobs.js'
import type { TimerStanding } from '../../../fabric/timers/standing.js'
import type { VerbDeps } from '../../verb.js'
import { readCrontabBeside } from './crontab-file.js'
import { lingers } from './host.js'
import { ownUnits, unitFolder } from './unit-files.js'

/**
 * What is installed. Asks loginctl only where units are. Throws `conflict`
 * `crontab_altered`.
 */
export const foundTimers = async (deps: VerbDeps, standing: TimerStanding): Promise<Timers> => {
  const id = timerId(deps.places.stateDir)
  const units = ownUnits(deps, id)
  if (units.length > 0) {
    const entries = units.map((name) => join(unitFolder(deps), name))
    return { scheduler: 'systemd', entries, lingering: await lingers(deps), ...standing }
  }
  const lines = cronLinesOf(id, await readCrontabBeside(deps) ?? '')
  const scheduler = lines === null ? null : 'cron' as const
  return { scheduler, entries: [...lines ?? []], lingering: null, ...standing }
}

/** Which timers of this state directory are installed. */
import { join } from 'node:path'
import type { Timers, TimerStatus } from '../../../fabric/timers/timers-contract.js'
import { cronLinesOf } from '../../../fabric/timers/crontab.js'
import type { VerbDeps } from '../../verb.js'
import { foundAgents } from './agents.js'
import { readCrontabBeside } from './crontab-file.js'
import { lingers, ownId, unitStates } from './host.js'
import { ownUnits, unitFolder } from './unit-files.js'

/** Where nothing is installed. */
export const noTimers: Omit<Timers, keyof TimerStatus> =
  { scheduler: null, entries: [], agents: [], units: [], lingering: null }

/**
 * What is installed. Asks launchctl on a Mac alone, systemctl and loginctl only where units are.
 * Throws `conflict` `crontab_altered`.
 */
export const foundTimers = async (deps: VerbDeps, standing: TimerStatus): Promise<Timers> => {
  const id = ownId(deps)
  const agents = deps.system.hasLaunchd ? await foundAgents(deps, id) : null
  if (agents !== null) return { ...noTimers, scheduler: 'launchd', ...agents, ...standing }
  const units = ownUnits(deps, id)
  if (units.length > 0) {
    const entries = units.map((name) => join(unitFolder(deps), name))
    return {
      ...noTimers, scheduler: 'systemd', entries, units: [...await unitStates(deps, id, units)],
      lingering: await lingers(deps), ...standing,
    }
  }
  const lines = cronLinesOf(id, await readCrontabBeside(deps) ?? '')
  const scheduler = lines === null ? null : 'cron' as const
  return { ...noTimers, scheduler, entries: [...lines ?? []], ...standing }
}

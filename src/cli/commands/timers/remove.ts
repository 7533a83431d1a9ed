import { timersRemove, type Timers } from '../../../fabric/timers/contract.js'
import { withoutBlock } from '../../../fabric/timers/crontab.js'
import { timerId } from '../../../fabric/timers/jobs.js'
import { noStanding } from '../../../fabric/timers/standing.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { readCrontab, readCrontabBeside, writeCrontab } from './crontab-file.js'
import { hasSystemd, systemctl } from './host.js'
import { oneAtATime } from './one-at-a-time.js'
import { ownUnits, removeUnits } from './unit-files.js'
import { timersText } from './text.js'

/**
 * Stops these units and takes them out, also where no manager answers. Throws `failed`
 * `systemd_refused` where one answers and does not stop them.
 */
export const dropUnits = async (deps: VerbDeps, units: readonly string[]): Promise<void> => {
  if (units.length === 0) return
  const answers = await hasSystemd(deps)
  const timers = units.filter((name) => name.endsWith('.timer'))
  if (answers && timers.length > 0) await systemctl(deps, 'disable', '--now', ...timers)
  removeUnits(deps, units)
  if (answers) return systemctl(deps, 'daemon-reload')
  deps.note('No manager of user units answers here. One that runs elsewhere forgets them at its '
    + 'next start.')
}

/** Takes the lines out of a crontab, if it was read and they are in it. */
export const dropLines = async (
  deps: VerbDeps, id: string, crontab: string | null,
): Promise<void> => {
  const rest = crontab === null ? null : withoutBlock(id, crontab)
  if (rest !== null && rest !== crontab) await writeCrontab(deps, rest)
}

export const remove: VerbRecord<object, Timers> = {
  summary: 'stop and remove the timers of this state directory',
  description:
    'Stops the timers and removes what `timers install` made: unit files with its mark, and the '
    + 'lines between its two marks in the crontab. Every other line stays byte for byte. It asks '
    + 'nothing, needs no session and opens no state.',
  examples: ['$ sallyport timers remove'],
  session: 'none',
  damage: 'unasked',
  exits: ['conflict', 'locked'],
  json: timersRemove,
  text: timersText,
  run: async (_options, deps) => {
    const id = timerId(deps.places.stateDir)
    await oneAtATime(deps, 'timers remove', async () => {
      const units = ownUnits(deps, id)
      await dropUnits(deps, units)
      const read = units.length > 0 ? readCrontabBeside : readCrontab
      await dropLines(deps, id, await read(deps))
    })
    return timersRemove.answer({ scheduler: null, entries: [], lingering: null, ...noStanding })
  },
}

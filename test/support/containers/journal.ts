/** What the journal of a booted machine says of the units of its owner. */
import type { Booted } from './booted.js'

/** How often something came to pass with a unit. */
export interface Lived {
  /** Started, or for a job that ends by itself: came to its end. */
  readonly ran: number
  readonly failed: number
  /** Started anew by systemd, after it had failed. */
  readonly again: number
}

/** Ids of messages, of systemd's sd-messages.h. */
const ids = {
  ran: '39f53479d3a045ac8e11786248231fbf',
  failed: 'd9b373ed55a64feb8242e02dbe79a49c',
  again: '5eb03494b6584870a536b337290809b3',
} as const

/** An entry of the journal, of which these fields are read. */
interface Entry {
  /** Whoever wrote it. */
  readonly _SYSTEMD_USER_UNIT?: string
  /** The unit that the manager tells of. */
  readonly USER_UNIT?: string
  readonly MESSAGE_ID?: string
  readonly MESSAGE?: unknown
  readonly _BOOT_ID?: string
}

/** Entries of all boots, oldest first. */
const entriesOf = (machine: Booted): readonly Entry[] => {
  const fields = 'USER_UNIT,MESSAGE_ID,MESSAGE,_BOOT_ID,_SYSTEMD_USER_UNIT'
  const { stdout } = machine.asRoot(`journalctl --sync
journalctl --output=json --output-fields=${fields} --no-pager --quiet`)
  return stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Entry)
}

/** What units wrote themselves, whose names end so. */
export const saidBy = (machine: Booted, ending: string): string => entriesOf(machine)
  .filter((one) => one._SYSTEMD_USER_UNIT?.endsWith(ending) === true)
  .map(({ MESSAGE }) => `${String(MESSAGE)}\n`).join('')

/**
 * How each unit lived.
 * @param boot which boot, as a number from 1; all of them together unless said
 */
export const livedOf = (machine: Booted, boot?: number): ReadonlyMap<string, Lived> => {
  const entries = entriesOf(machine).filter((one) => one.USER_UNIT !== undefined)
  const boots = [...new Set(entries.map((one) => one._BOOT_ID))]
  const asked = entries.filter((one) => boot === undefined || one._BOOT_ID === boots[boot - 1])
  const units = [...new Set(asked.map((one) => one.USER_UNIT ?? ''))].sort()
  return new Map(units.map((unit) => {
    const count = (id: string): number =>
      asked.filter((one) => one.USER_UNIT === unit && one.MESSAGE_ID === id).length
    return [unit, { ran: count(ids.ran), failed: count(ids.failed), again: count(ids.again) }]
  }))
}

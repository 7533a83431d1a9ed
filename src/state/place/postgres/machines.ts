/** Machines of a store. */
import { isoFromMs } from '../../../base/clock.js'
import { fail } from '../../../base/errors.js'
import type { MachineRow } from '../place.js'
import { textOf } from './connection.js'
import { machineRetired } from '../errors.js'
import { sqlStateOf } from './failures.js'
import {
  askStanding, firstValues, mayChange, placeTerms, requireStanding, standingColumns, withStanding,
  type Asking,
} from './standing.js'
import { msOf } from './tables.js'

interface TextRow {
  readonly machine: string
  readonly name: string
  readonly joined: string
  readonly seen: string
  readonly retired: string | null
  readonly sequence: string
}

const isoOf = (ms: string): string => isoFromMs(Number(ms))

const rowOf = ({ machine, name, joined, seen, retired, sequence }: TextRow): MachineRow => ({
  machine, name, joined: isoOf(joined), seen: isoOf(seen),
  retired: retired === null ? null : isoOf(retired), sequence: Number(sequence),
})

/** Every machine as one text, for `machinesOf`. */
export const machineRows = `(
    select json_agg(json_build_object('machine', machine, 'name', name, 'joined', ${msOf('joined')},
      'seen', ${msOf('seen')}, 'retired', ${msOf('retired')}, 'sequence', sequence::text)
      order by joined, machine)
    from sallyport.machines where store = $1)::text`

/** Machines of such a text. */
export const machinesOf = (text: string): readonly MachineRow[] =>
  (JSON.parse(text) as readonly TextRow[]).map(rowOf)

/** See `Place.machines`. */
export const machines = async (asking: Asking): Promise<readonly MachineRow[]> => {
  const row = await askStanding(asking, '', `, ${machineRows} as machines`, [], false)
  return machinesOf(textOf(row, 'machines'))
}

const joinText = (asking: Asking): string => `${withStanding(false, placeTerms(asking))},
joined as (
  insert into sallyport.machines (store, machine, name)
  select $1, $5::uuid, $6::text where exists (select from standing where known and fits)
  on conflict (store, machine) do nothing returning machine)
select ${standingColumns}, (select count(*) from joined) = 1 as joined,
  exists (select from sallyport.machines
    where store = $1 and machine = $5 and retired is not null) as retired`

/** See `Place.join`. The same machine may say it again. */
export const join = async (
  asking: Asking, { machine, name }: { machine: string; name: string },
): Promise<boolean> => {
  let isLost = false
  const [row] = await withName(() => asking.connection.ask({
    text: joinText(asking), values: [...firstValues(asking), machine, name],
    onLost: () => { isLost = true },
  }))
  // Whoever joins is not there yet.
  requireStanding(row === undefined ? row : { ...row, here: true }, asking)
  if (row?.['retired'] === true) throw machineRetired()
  return isLost || row?.['joined'] === true
}

/** Asks for something that gives a machine its name. Throws `conflict` `machine_name_taken`. */
export const withName = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask()
  } catch (error) {
    if (sqlStateOf(error) !== '23505') throw error
    throw fail.conflict('machine_name_taken', 'Another machine of this state has that name.', {
      next: 'Name this machine differently, or retire the other one first.',
    })
  }
}

/** Whatever a retired machine had open counts as ended: nothing of it goes on. */
const retireBody = `,
retired as (
  update sallyport.machines set retired = clock_timestamp()
  where store = $1 and machine = $5::uuid and retired is null and ${mayChange}
  returning machine),
ended as (
  delete from sallyport.leases where store = $1 and machine = $5::uuid and ${mayChange}
  returning name),
closed as (
  update sallyport.fences set taken = false, closed = true, given_at = clock_timestamp(),
    closed_at = clock_timestamp()
  where store = $1 and machine = $5::uuid and not closed and ${mayChange}
  returning operation)`

/**
 * See `Place.retire`. One that is retired already stays so. Asked twice: the first waits for what
 * the machine has just begun, and does not see it; behind that it begins nothing.
 */
export const retire = async (asking: Asking, machine: string): Promise<void> => {
  for (let times = 0; times < 2; times += 1) {
    await askStanding(asking, retireBody, `, (select count(*) from retired) as retired,
      (select count(*) from ended) as ended, (select count(*) from closed) as closed`, [machine])
  }
}

/** See `Place.noteSeen`. */
export const noteSeen = async (asking: Asking, sequence: number): Promise<void> => {
  await askStanding(asking, `,
noted as (
  update sallyport.machines
  set seen = clock_timestamp(), sequence = greatest(sequence, $5::bigint)
  where store = $1 and machine = $2 and retired is null
  returning machine)`, ', (select count(*) from noted) as noted', [sequence], false)
}

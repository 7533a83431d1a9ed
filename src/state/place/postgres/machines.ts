/** Machines of a store. */
import { isoFromMs, systemClock } from '../../../base/clock.js'
import { fail } from '../../../base/errors.js'
import { placeTimes, type LeftUnderWay, type MachineRow } from '../place.js'
import { textOf } from './connection.js'
import { machineRetired } from '../errors.js'
import { sqlStateOf } from './failures.js'
import {
  askStanding, firstValues, mayChange, placeTerms, requireStanding, standingColumns, unhurried,
  withStanding, type Asking,
} from './standing.js'
import { msOf } from './tables.js'

/** As the server tells one: moments in milliseconds, and numbers as text. */
type TextRow = Omit<MachineRow, 'sequence'> & { readonly sequence: string }

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
  (select ${msOf('clock_timestamp() - joined')} from sallyport.machines
    where store = $1 and machine = $5) as joined_ago,
  exists (select from sallyport.machines
    where store = $1 and machine = $5 and retired is not null) as retired`

/**
 * See `Place.join`. The same machine may say it again; where an answer was lost, what lay there
 * before the first try is another one's.
 */
export const join = async (
  asking: Asking, { machine, name }: { machine: string; name: string },
): Promise<boolean> => {
  let isLost = false
  const begunMs = systemClock.monotonicMs()
  const [row] = await withName(() => asking.connection.ask({
    text: joinText(asking), values: [...firstValues(asking), machine, name],
    onLost: () => { isLost = true },
  }))
  // Whoever joins is not there yet.
  requireStanding(row === undefined ? row : { ...row, here: true }, asking)
  if (row?.['retired'] === true) throw machineRetired()
  if (row?.['joined'] === true) return true
  const agoMs = Number(row?.['joined_ago'] ?? 0)
  return isLost && agoMs <= systemClock.monotonicMs() - begunMs
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

const retireBody = `,
retired as (
  update sallyport.machines set retired = clock_timestamp()
  where store = $1 and machine = $5::uuid and retired is null and ${mayChange}
  returning machine)`

/** A machine that was retired renews nothing: what it has ends by itself. */
const leftColumns = `, (
    select json_agg(distinct name order by name) from (
      select substr(name, 6) from sallyport.leases where store = $1 and machine = $5::uuid
        and ends > clock_timestamp() and starts_with(name, 'hold/')
      union select operation from sallyport.fences where store = $1 and machine = $5 and taken
        and taken_at + $6::int * interval '1 ms' > clock_timestamp()) as held (name))::text
    as operations,
  ${msOf(`(select max(ends) from (
      select ends from sallyport.leases where store = $1 and machine = $5
      union all select taken_at + $6 * interval '1 ms' from sallyport.fences
        where store = $1 and machine = $5 and taken) as every
    where ends > clock_timestamp())`)} as until`

/**
 * See `Place.retire`. One that is retired already stays so. Looked at behind it: whoever retires
 * waits for what the machine has just begun, and does not see it; from then on it begins nothing.
 */
export const retire = async (asking: Asking, machine: string): Promise<LeftUnderWay> => {
  await askStanding(asking, retireBody, ', (select count(*) from retired) as retired', [machine])
  const { operations, until } = await askStanding(
    asking, '', leftColumns, [machine, placeTimes.leaseMs], false)
  return {
    operations: JSON.parse(typeof operations === 'string' ? operations : '[]') as string[],
    until: typeof until === 'string' ? isoOf(until) : null,
  }
}

/** See `Place.noteSeen`. */
export const noteSeen = async (asking: Asking, sequence: number): Promise<void> => {
  await askStanding(unhurried(asking), `,
noted as (
  update sallyport.machines
  set seen = clock_timestamp(), sequence = greatest(sequence, $5::bigint)
  where store = $1 and machine = $2 and retired is null
  returning machine)`, ', (select count(*) from noted) as noted', [sequence], false)
}

/**
 * Fences and stops. Whoever sends writes that a piece is about to leave and looks for stops behind
 * that; whoever stops writes the stop and looks for fences behind that. At least one of the two
 * sees the other, since each look begins after what was written before it was committed.
 */
import { fail } from '../../../base/errors.js'
import { leaseLost } from '../errors.js'
import type { FenceRow, FenceTaking, Followed } from '../place.js'
import { textOf } from './connection.js'
import { lookOf, lookText, type Looking } from './records.js'
import {
  askStanding, beginText, bytesLiteral, firstValues, holderLiteral, literalTerms, mayChange,
  nameLiteral, noStanding, placeTerms, requireStanding, standingColumns, unhurried, uuidLiteral,
  whose, withStanding, type Asking,
} from './standing.js'

/** How long the fence of an operation that has ended is still told of. */
const closedFor = `interval '10 minutes'`

/** The two transactions of one trip, as the text of several statements. */
const takeText = (
  asking: Asking, { operation, facts, turn, under }: FenceTaking, looking: Looking,
): string => {
  const terms = literalTerms(asking)
  const [name, mine] = [nameLiteral(operation), uuidLiteral(turn)]
  const tokens = `array[${[...new Set(under)].map(uuidLiteral).join(', ')}]::uuid[]`
  return [
    beginText,
    // A turn that was given back stays so: its own first words may arrive late.
    `${withStanding(true, terms)},
    held as materialized (
      select token from sallyport.leases where store = ${terms.store}
        and machine = ${terms.machine} and token = any(${tokens}) and ends > clock_timestamp()
      for share)
    insert into sallyport.fences as fence
      (store, operation, machine, holder, turn, taken, closed, facts)
    select ${terms.store}, ${name}, ${terms.machine}, ${terms.holder}, ${mine}, true, false,
      ${bytesLiteral(facts)}
    from durable where ${mayChange} and (select count(*) from held) = cardinality(${tokens})
    on conflict (store, operation) do update
      set machine = excluded.machine, holder = excluded.holder, turn = excluded.turn,
        taken = true, facts = excluded.facts, taken_at = clock_timestamp()
      where not fence.closed and (fence.taken or fence.turn <> excluded.turn)`,
    'commit',
    lookText(asking, looking, `coalesce((
      select case when closed then 'closed' when taken and turn = ${mine} then 'taken' end
      from sallyport.fences where store = ${terms.store} and operation = ${name}), 'not')`),
  ].join(';\n')
}

/** See `Place.takeFence`. */
export const takeFence = async (
  asking: Asking, taking: FenceTaking, after: number, limit: number,
): Promise<Followed> => {
  const rows = await asking.connection.askPlain(takeText(asking, taking, { after, limit }))
  const seen = await lookOf(asking, rows, after)
  const fence = rows.find((row) => row['kind'] === 'head')?.['b']
  if (fence === 'taken') return seen
  if (fence !== 'closed') throw leaseLost()
  throw fail.failed('fence_lost', 'The fence of this request was removed; nothing more is sent.')
}

const giveBody = (asking: Asking): string => `,
given as (
  insert into sallyport.fences as fence
    (store, operation, machine, holder, turn, taken, closed, facts, given_at, closed_at)
  select $1, $5::text, $2, ${holderLiteral(asking)}, $8::uuid, false, $7::boolean, $6::bytea,
    clock_timestamp(), case when $7 then clock_timestamp() end
  where ${mayChange}
  on conflict (store, operation) do update
    set taken = false, closed = fence.closed or excluded.closed, facts = excluded.facts,
      given_at = clock_timestamp(),
      closed_at = coalesce(fence.closed_at, case when excluded.closed then clock_timestamp() end)
    where excluded.closed or fence.turn = excluded.turn
  returning operation),
old as (
  delete from sallyport.fences where store = $1 and $7 and closed and operation <> $5
    and closed_at < clock_timestamp() - ${closedFor}
  returning operation)`

/** See `Place.giveFence`. */
export const giveFence = async (
  asking: Asking, operation: string, facts: Buffer, turn: string, closed: boolean,
): Promise<void> => {
  await askStanding(unhurried(asking), giveBody(asking), `, (select count(*) from given) as given`,
    [operation, facts, closed, turn])
}

/** See `Place.fencesSince`. Of a stop that does not lie there all of them are told. */
export const fencesSince = async (
  asking: Asking, stop: string, moment?: string,
): Promise<readonly FenceRow[]> => {
  const rows = await asking.connection.ask({
    text: `${withStanding(false, placeTerms(asking))}
select 'head' as kind, null::text as operation, null::text as machine, null::boolean as taken,
  null::boolean as closed, null::bytea as facts, ${standingColumns}
union all select 'fence', operation, ${whose(asking)}, taken, closed, facts, ${noStanding}
  from sallyport.fences as fence where store = $1 and (taken
    or greatest(given_at, closed_at) >= coalesce($6::timestamptz,
      (select placed from sallyport.stops where store = $1 and id = $5), '-infinity')
    or not closed and exists (
      select from sallyport.leases as lease where lease.store = $1 and ends > clock_timestamp()
        and lease.name = 'hold/' || fence.operation))`,
    values: [...firstValues(asking), stop, moment ?? null],
  })
  requireStanding(rows.find((row) => row['kind'] === 'head'), asking)
  return rows.filter((row) => row['kind'] === 'fence').map((row) => ({
    operation: textOf(row, 'operation'), machine: textOf(row, 'machine'),
    taken: row['taken'] === true, closed: row['closed'] === true, facts: row['facts'] as Buffer,
  }))
}

/** See `Place.putStop`. A stop that lies there stays with its moment. */
export const putStop = async (asking: Asking, id: string, body: Buffer): Promise<string> => {
  const row = await askStanding(asking, `,
put as (
  insert into sallyport.stops (store, id, body)
  select $1, $5::text, $6::bytea from durable where ${mayChange}
  on conflict do nothing returning placed)`, `, coalesce((select placed from put),
    (select placed from sallyport.stops where store = $1 and id = $5), '-infinity')::text
    as placed`, [id, body])
  return textOf(row, 'placed')
}

/** See `Place.dropStop`. */
export const dropStop = async (asking: Asking, id: string): Promise<void> => {
  await askStanding(asking, `,
dropped as (
  delete from sallyport.stops where store = $1 and id = $5 and ${mayChange} returning id)`,
  ', (select count(*) from dropped) as dropped', [id])
}

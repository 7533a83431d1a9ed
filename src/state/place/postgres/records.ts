/** The log: records behind one another, each put there by compare-and-set. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SallyportError } from '../../../base/errors.js'
import { commitUnknown, otherHistory, serverChanged } from '../errors.js'
import { placeTimes, type Appended, type Followed, type PlacedRecord, type Position,
} from '../place.js'
import { textOf, Unanswered, type Row } from './connection.js'
import { askStanding, firstValues, literalTerms, mayChange, noStanding, placeTerms, requireStanding,
  standingColumns, whose, withStanding, type Asking } from './standing.js'
import { msOf } from './tables.js'

/** Bytes of bodies that one look takes, beside the first record. */
const lookBytes = 16 * 1024 * 1024
/** Pauses before an append is given again, ms: a server that starts again takes about a second. */
const pausesMs = [100, 1_000]

/** Where a look begins, and how many records it brings at most. */
export interface Looking {
  readonly after: number
  readonly limit: number
}

/**
 * Everything of one moment: one statement has one snapshot. Columns are kind, n, a, b, c, x, y;
 * `said`: a text that the head tells beside.
 */
export const lookText = (
  asking: Asking, { after, limit }: Looking, said = 'null::text',
): string => {
  const terms = literalTerms(asking)
  const store = `store = ${terms.store}`
  return `${withStanding(false, terms)},
wanted as (
  select sequence, link, body from sallyport.records
  where ${store} and sequence > ${Math.trunc(after)} order by sequence
  limit ${Math.trunc(limit)}),
sized as (
  select *, sum(octet_length(body)) over (order by sequence) - octet_length(body) as before
  from wanted)
select 'head' as kind, (select max(sequence) from sallyport.records where ${store}) as n,
  ${msOf('clock_timestamp()')} as a, ${said} as b, (
    select floor(extract(epoch from clock_timestamp() - seen) * 1000)::text
    from sallyport.machines where ${store} and machine = ${terms.machine}) as c,
  (select link from sallyport.records
    where ${store} and sequence = ${Math.trunc(after)}) as x, null::bytea as y, ${standingColumns}
union all select 'record', sequence, null, null, null, link, body, ${noStanding}
  from sized where before < ${lookBytes}
union all select 'lease', null, name, ${whose(asking)},
    case when machine = ${terms.machine} and holder = ${terms.holder} then token::text end,
    null, null, ${noStanding}
  from sallyport.leases where ${store} and ends > clock_timestamp()
union all select 'stop', null, id, null, null, null, body, ${noStanding}
  from sallyport.stops where ${store}`
}

const recordOf = (row: Row): PlacedRecord => ({
  sequence: Number(row['n']), link: row['x'] as Buffer, body: row['y'] as Buffer,
})

/** What a look saw. Throws `server_changed` where the place has less than what is known here. */
export const lookOf = async (
  asking: Asking, rows: readonly Row[], after: number,
): Promise<Followed> => {
  const of = (kind: string) => rows.filter((row) => row['kind'] === kind)
  const head = requireStanding(of('head')[0], asking)
  const last = Number(head['n'])
  if (after > last) throw serverChanged('behind')
  const records = of('record').map(recordOf).sort((a, b) => a.sequence - b.sequence)
  if (Number(head['writes']) < asking.machine.writes) await raiseWrites(asking)
  return {
    records,
    link: head['x'] as Buffer | null,
    more: (records.at(-1)?.sequence ?? after) < last,
    leases: of('lease').map((row) => ({
      name: textOf(row, 'a'), machine: textOf(row, 'b'),
      token: row['c'] === null ? null : textOf(row, 'c'),
    })),
    stops: of('stop').map((row) => ({ id: textOf(row, 'a'), body: row['y'] as Buffer })),
    nowMs: Number(head['a']),
    seenAgoMs: Number(head['c']),
  }
}

/** See `Place.follow`. */
export const follow = async (asking: Asking, after: number, limit: number): Promise<Followed> => {
  const rows = await asking.connection.ask({ text: lookText(asking, { after, limit }), values: [] })
  return lookOf(asking, rows, after)
}

/** From now on programs that write less are refused. */
const raiseWrites = (asking: Asking): Promise<Row> => askStanding(asking, `,
raised as (
  update sallyport.stores set writes = greatest(writes, $3) where store = $1 and ${mayChange}
  returning store)`, ', (select count(*) from raised) as raised', [])

/** Records by their number, as far as a statement's snapshot has them. */
const isAt = (sequence: string, link: string): string =>
  `(select link = ${link} from sallyport.records where store = $1 and sequence = ${sequence})`

const appendBody = `,
held as materialized (
  update sallyport.leases set ends = clock_timestamp() + $10::int * interval '1 ms'
  where store = $1 and machine = $2 and token = any($9::uuid[]) and ends > clock_timestamp()
    and ${mayChange}
  returning token),
placed as (
  insert into sallyport.records (store, sequence, link, body)
  select $1, $5::bigint + 1, $7::bytea, $8::bytea from durable
  where ${mayChange} and ${isAt('$5::bigint', '$6::bytea')}
    and (select count(*) from held) = cardinality($9::uuid[])
  on conflict do nothing returning sequence)`

const appendColumns = `,
  (select count(*) from placed) = 1 as placed,
  (select count(*) from held) = cardinality($9::uuid[]) as held,
  ${isAt('$5::bigint', '$6::bytea')} as follows,
  ${isAt('$5::bigint + 1', '$7::bytea')} as ours,
  (select max(sequence) from sallyport.records where store = $1) as last`

/** Whether the record behind a position is this one; false where there is none yet. */
const isPlaced = async (asking: Asking, { sequence, link }: Position): Promise<boolean> => {
  const row = await askStanding(asking, '', `, ${isAt('$5::bigint', '$6::bytea')} as ours`,
    [sequence, link], false)
  return row['ours'] === true
}

/** A record, where it belongs and under what; `onLost`: see `Question`. */
interface Placing {
  readonly at: Position
  readonly record: PlacedRecord
  readonly under: readonly string[]
  readonly onLost: () => void
}

const appendOnce = async (
  asking: Asking, { at, record, under, onLost }: Placing,
): Promise<Appended> => {
  const [answer] = await asking.connection.ask({
    text: `${withStanding(true, placeTerms(asking))}${appendBody}
      select ${standingColumns}${appendColumns}`,
    values: [
      ...firstValues(asking), at.sequence, at.link, record.link, record.body,
      [...new Set(under)], placeTimes.leaseMs,
    ],
    onLost,
  })
  // What came to be before its answer was lost did so, whatever is refused by now.
  if (answer?.['placed'] === true || answer?.['ours'] === true) return 'placed'
  const row = requireStanding(answer, asking)
  if (Number(row['last'] ?? 0) < at.sequence) throw serverChanged('behind')
  if (row['follows'] !== true) throw otherHistory()
  // An earlier try of ours may have won while this one waited for it.
  if (await isPlaced(asking, record)) return 'placed'
  return row['held'] === true ? 'moved' : 'lease_lost'
}

/** See `Place.append`. */
export const append = async (
  asking: Asking, at: Position, record: PlacedRecord, under: readonly string[],
): Promise<Appended> => {
  let unanswered = false
  const onLost = (): void => { unanswered = true }
  for (const pauseMs of [...pausesMs, null]) {
    try {
      return await appendOnce(asking, { at, record, under, onLost })
    } catch (error) {
      if (error instanceof Unanswered) unanswered = true
      if (!unanswered) throw error
      // What refuses a later try says nothing of the one that nobody answered.
      if (error instanceof SallyportError) throw commitUnknown(error)
      if (pauseMs === null) throw commitUnknown(error)
    }
    await sleep(pauseMs)
  }
  return 'moved'
}

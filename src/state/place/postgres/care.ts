/** What is asked of a server that may be another run than the store knows, and a store's end. */
import {
  nobody, placeTimes, type PlacedRecord, type Position, type Standing, type StopRow,
} from '../place.js'
import { machineRetired, serverChanged, serverLeft } from '../errors.js'
import { isLaterRun } from '../known-run.js'
import { textOf, type Row } from './connection.js'
import { machineRows, machinesOf, withName } from './machines.js'
import {
  beginText, bytesLiteral, durableSql, literalTerms, mayChange, noteRun, requireStanding,
  standingColumns, withStanding,
  type Asking,
} from './standing.js'
import { runSql } from './tables.js'

/** A machine may go on elsewhere after a while: what it said counts for so long. */
const vouchedForHours = 24

const standingText = `with
run as materialized (select ${runSql} as now),
last as materialized (
  select sequence, link, body from sallyport.records
  where store = $1::uuid order by sequence desc limit 1)
select (select s.run <> run.now from sallyport.stores s, run where s.store = $1) as changed,
  (select now from run) as run,
  (select sequence from last) as sequence, (select link from last) as link,
  (select body from last) as body,
  (select link from sallyport.records where store = $1 and sequence = $2::bigint) as known,
  (select json_agg(json_build_object('machine', v.machine, 'sequence', v.sequence::text,
    'link', encode(v.link, 'hex'), 'same', (select r.link = v.link from sallyport.records r
      where r.store = v.store and r.sequence = v.sequence)))
    from sallyport.vouchers v join sallyport.machines m using (store, machine), run
    where v.store = $1 and v.run = run.now
      and m.seen > clock_timestamp() - interval '${vouchedForHours} hours')::text as vouchers,
  ${machineRows} as machines`

interface VoucherText {
  readonly machine: string
  readonly sequence: string
  readonly link: string
  /** Null where the server has no record of that number. */
  readonly same: boolean | null
}

/**
 * See `Place.standing`. A server that this machine has left takes itself for the one that it was:
 * nobody is led back to it (`server_changed` `left`). `machine_retired` of one that was.
 */
export const standing = async (
  { connection, storeId, run, machine }: Asking, number = 0,
): Promise<Standing> => {
  const [row] = await connection.ask({ text: standingText, values: [storeId, number] })
  if (row === undefined || row['changed'] === null || row['sequence'] === null) {
    throw serverChanged('store_missing')
  }
  const isChanged = row['changed'] === true
  const machines = machinesOf(textOf(row, 'machines'))
  const here = machines.find((one) => one.machine === machine.machine)
  if (here !== undefined && here.retired !== null) throw machineRetired()
  const [known, now] = [run.known(), textOf(row, 'run')]
  const isOther = known !== null && known !== now && !isLaterRun(now, known)
  if (!isChanged && isOther) throw serverLeft()
  if (!isChanged) noteRun(run, row)
  const vouchers = JSON.parse(row['vouchers'] === null ? '[]' : textOf(row, 'vouchers')) as
    readonly VoucherText[]
  return {
    isChanged,
    last: lastOf(row),
    link: row['known'] as Buffer | null,
    vouchers: vouchers.map(({ machine, sequence, link, same }) => ({
      machine, sequence: Number(sequence), link: Buffer.from(link, 'hex'), isOther: same === false,
    })),
    machines,
  }
}

const lastOf = (row: Row): PlacedRecord => ({
  sequence: Number(row['sequence']), link: row['link'] as Buffer, body: row['body'] as Buffer,
})

const vouchText = `with
me as (
  insert into sallyport.machines as mine (store, machine, name)
  select $1::uuid, $2::uuid, $5::text
  where exists (select from sallyport.records where store = $1 and sequence <= $3::bigint)
  on conflict (store, machine) do update set seen = clock_timestamp()
    where mine.retired is null
  returning machine)
insert into sallyport.vouchers (store, run, machine, sequence, link)
select $1, ${runSql}, machine, $3::bigint, $4::bytea from me
on conflict (store, run, machine) do update set sequence = $3, link = $4
returning run`

/** See `Place.vouch`. Who has said it to one run goes on at that one, and at no former one. */
export const vouch = async (
  { connection, storeId, machine, run }: Asking, at: Position, name: string,
): Promise<void> => {
  const values = [storeId, machine.machine, at.sequence, at.link, name]
  const [row] = await withName(() => connection.ask({ text: vouchText, values }))
  if (row !== undefined) noteRun(run, row)
}

const acceptText = `with
durable as materialized (select ${durableSql} as set),
ok as materialized (
  select s.store from sallyport.stores s, durable
  where s.store = $1::uuid
    and (select link from sallyport.records where store = $1 and sequence = $3::bigint) = $4::bytea
    and not exists (select from sallyport.records where store = $1 and sequence > $3)
    and exists (select from sallyport.machines
      where store = $1 and machine = $2::uuid and retired is null)
  for update of s),
given as (
  insert into sallyport.records (store, sequence, link, body)
  select ok.store, lost.sequence, lost.link, lost.body
  from ok, unnest($5::bigint[], $6::bytea[], $7::bytea[]) as lost (sequence, link, body)
  returning sequence),
lane as (
  insert into sallyport.leases (store, name, machine, holder, token, ends)
  select store, 'lane', '${nobody}'::uuid, '', gen_random_uuid(),
    clock_timestamp() + $8::int * interval '1 ms' from ok
  on conflict (store, name) do update
    set machine = excluded.machine, token = excluded.token, ends = excluded.ends
  returning store),
stopped as (
  insert into sallyport.stops (store, id, body)
  select ok.store, stop.id, stop.body
  from ok, unnest($12::text[], $13::bytea[]) as stop (id, body)
  on conflict do nothing returning id),
gone as (
  update sallyport.machines set retired = clock_timestamp()
  where store = (select store from ok) and machine = any($11::uuid[]) and retired is null
  returning machine),
said as (
  delete from sallyport.vouchers where store = (select store from ok)
  returning store),
known as (
  update sallyport.stores set run = ${runSql}
  where store = (select store from ok) and (select count(*) from given) >= 0
    and (select count(*) from lane) >= 0 and (select count(*) from said) >= 0
    and (select count(*) from stopped) >= 0
  returning store)
select (select count(*) from known) = 1
  or exists (select from sallyport.stores where store = $1 and run = ${runSql})
    and (select link from sallyport.records where store = $1 and sequence = $9::bigint)
      = $10::bytea as accepted`

/** See `Place.accept`. */
export const accept = async (
  { connection, storeId, machine }: Asking, last: Position, lost: readonly PlacedRecord[],
  retired: readonly string[] = [], stops: readonly StopRow[] = [],
): Promise<'accepted' | 'moved'> => {
  // Told of an earlier try whose answer was lost: it is known, and ends in what was given.
  const end = lost.at(-1) ?? last
  const [row] = await connection.ask({
    text: acceptText,
    values: [
      storeId, machine.machine, last.sequence, last.link, lost.map(({ sequence }) => sequence),
      lost.map(({ link }) => link), lost.map(({ body }) => body), placeTimes.leaseMs,
      end.sequence, end.link, retired, stops.map(({ id }) => id), stops.map(({ body }) => body),
    ],
  })
  return row?.['accepted'] === true ? 'accepted' : 'moved'
}

/**
 * Whoever places a record holds the row of its machine meanwhile: with all of them held nothing is
 * under way, and once they are retired what was asked before and comes later finds none.
 */
const endText = (asking: Asking, { sequence, link }: Position): string => {
  const terms = literalTerms(asking)
  const { store, machine } = terms
  const isLast = `exists (
      select from sallyport.records where store = ${store}
        and sequence = ${Math.trunc(sequence)} and link = ${bytesLiteral(link)})
    and not exists (
      select from sallyport.records where store = ${store} and sequence > ${Math.trunc(sequence)})`
  return [
    beginText,
    `select ${durableSql}`,
    `select from sallyport.machines where store = ${store} order by machine for update`,
    `${withStanding(false, terms)}
    update sallyport.stores set ended = clock_timestamp(), ended_by = ${machine}
    where store = ${store} and ${mayChange} and ${isLast}`,
    `update sallyport.machines set retired = clock_timestamp()
    where store = ${store} and retired is null
      and exists (select from sallyport.stores where store = ${store} and ended is not null)`,
    'commit',
    `${withStanding(false, terms)}
    select ${standingColumns}, ${isLast} as last,
      exists (select from sallyport.stores
        where store = ${store} and ended_by = ${machine}) as mine,
      (select json_agg(json_build_object('id', id, 'body', encode(body, 'hex')))
        from sallyport.stops where store = ${store})::text as stops`,
  ].join(';\n')
}

const stopsOf = (row: Row): readonly StopRow[] => {
  const rows = JSON.parse(row['stops'] === null ? '[]' : textOf(row, 'stops')) as
    readonly { readonly id: string; readonly body: string }[]
  return rows.map(({ id, body }) => ({ id, body: Buffer.from(body, 'hex') }))
}

/** See `Place.end`. */
export const end = async (asking: Asking, at: Position): Promise<readonly StopRow[] | 'moved'> => {
  const [row] = await asking.connection.askPlain(endText(asking, at))
  if (row?.['mine'] === true) return row['last'] === true ? stopsOf(row) : 'moved'
  requireStanding(row, asking)
  return 'moved'
}

/**
 * One flipped bit of each column at the server: it is told as damage, refused or harmless. Money is
 * never wrong by it, nothing is sent twice, and nothing leaves behind a revoke that had answered.
 */
import type { Test } from 'tap'
import { collections } from '../../../src/governance/rows.js'
import { placeTimes } from '../../../src/state/place/place.js'
import type { Ran } from '../../world/place.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import { must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { slice } from '../../support/slice.js'
import { account } from '../../support/soak/ask-verdict.js'
import t from 'tap'

placeTimes.leaseMs = 3_000
placeTimes.patienceMs = 2_000

/** Another value that differs in one bit, by the type of a column. */
const flips = {
  bytes: (c: string) => `set_byte(${c}, length(${c}) / 2, get_byte(${c}, length(${c}) / 2) # 1)`,
  text: (c: string) => `left(${c}, -1) || chr(ascii(right(${c}, 1)) # 1)`,
  uuid: (c: string) => `(left(${c}::text, 35)
    || to_hex(('x' || right(${c}::text, 1))::bit(4)::int # 1))::uuid`,
  number: (c: string) => `${c} # 1`,
  large: (c: string) => `${c} # 64`,
  truth: (c: string) => `not ${c}`,
  later: (c: string) => `${c} + interval '1193 hours'`,
  earlier: (c: string) => `${c} - interval '1193 hours'`,
  set: () => 'clock_timestamp()',
} as const

interface Flip {
  readonly table: string
  readonly column: string
  readonly how: keyof typeof flips
  /** Which row; left out: each row as it is written. */
  readonly row?: string
  /**
   * A record is not there any more: who had seen it looks first. The other one would go on, as
   * behind every copy of a server that is put back.
   */
  readonly isGone?: true
}

const lastRow = 'sequence = (select max(sequence) from sallyport.records)'
const isTwo = "name = 'b'"

const flipped: readonly Flip[] = [
  { table: 'records', column: 'body', how: 'bytes', row: lastRow },
  { table: 'records', column: 'link', how: 'bytes', row: lastRow },
  { table: 'records', column: 'sequence', how: 'large', row: lastRow },
  { table: 'records', column: 'placed', how: 'later', row: lastRow },
  { table: 'records', column: 'store', how: 'uuid', row: lastRow, isGone: true },
  { table: 'stores', column: 'store', how: 'uuid', row: 'true' },
  { table: 'stores', column: 'format', how: 'number', row: 'true' },
  { table: 'stores', column: 'format', how: 'large', row: 'true' },
  { table: 'stores', column: 'writes', how: 'number', row: 'true' },
  { table: 'stores', column: 'writes', how: 'large', row: 'true' },
  { table: 'stores', column: 'run', how: 'text', row: 'true' },
  { table: 'stores', column: 'founded', how: 'later', row: 'true' },
  { table: 'stores', column: 'ended', how: 'set', row: 'true' },
  { table: 'machines', column: 'store', how: 'uuid', row: isTwo },
  { table: 'machines', column: 'machine', how: 'uuid', row: isTwo },
  { table: 'machines', column: 'name', how: 'text', row: isTwo },
  { table: 'machines', column: 'joined', how: 'later', row: isTwo },
  { table: 'machines', column: 'seen', how: 'later', row: isTwo },
  { table: 'machines', column: 'retired', how: 'set', row: isTwo },
  { table: 'machines', column: 'sequence', how: 'large', row: isTwo },
  { table: 'leases', column: 'store', how: 'uuid' },
  { table: 'leases', column: 'name', how: 'text' },
  { table: 'leases', column: 'machine', how: 'uuid' },
  { table: 'leases', column: 'token', how: 'uuid' },
  { table: 'leases', column: 'ends', how: 'later' },
  { table: 'leases', column: 'ends', how: 'earlier' },
  { table: 'fences', column: 'store', how: 'uuid' },
  { table: 'fences', column: 'operation', how: 'text' },
  { table: 'fences', column: 'machine', how: 'uuid' },
  { table: 'fences', column: 'turn', how: 'uuid' },
  { table: 'fences', column: 'taken', how: 'truth' },
  { table: 'fences', column: 'closed', how: 'truth' },
  { table: 'fences', column: 'facts', how: 'bytes' },
  { table: 'fences', column: 'taken_at', how: 'earlier' },
  { table: 'fences', column: 'given_at', how: 'earlier' },
  { table: 'fences', column: 'closed_at', how: 'earlier' },
  { table: 'stops', column: 'store', how: 'uuid' },
  { table: 'stops', column: 'id', how: 'text' },
  { table: 'stops', column: 'body', how: 'bytes' },
  { table: 'stops', column: 'placed', how: 'later' },
  { table: 'stops', column: 'placed', how: 'earlier' },
  { table: 'blob_names', column: 'store', how: 'uuid' },
  { table: 'blob_names', column: 'name', how: 'text' },
  { table: 'blob_names', column: 'attempt', how: 'uuid' },
  { table: 'blob_names', column: 'pieces', how: 'number' },
  { table: 'blob_names', column: 'placed', how: 'later' },
  { table: 'blobs', column: 'store', how: 'uuid' },
  { table: 'blobs', column: 'name', how: 'text' },
  { table: 'blobs', column: 'attempt', how: 'uuid' },
  { table: 'blobs', column: 'piece', how: 'number' },
  { table: 'blobs', column: 'body', how: 'bytes' },
]

/** Two machines at a server of their own. */
const founded = async () => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  must(await one.run(setupFlags(one.place, await one.revision(), roomy)))
  return { server, one, two: await nextMachine(t, one) }
}

/**
 * So many flips two machines go through. Each of some twenty verbs a flip reads everything that was
 * recorded before it: most of the time of fifty flips would be that.
 */
const flipsEach = 7

let { server, one, two } = await founded()

const endOf = (ran: Ran): string =>
  (ran.status === 0 ? 'done' : `${ran.status} ${ran.error().code}`)

/** Flips, and gives the way back. */
const flip = async ({ table, column, how, row }: Flip): Promise<() => Promise<unknown>> => {
  const name = `sallyport.${table}`
  if (row === undefined) {
    await server.query(`create or replace function flip_${table}_${column}() returns trigger
      language plpgsql as $$ begin
        new.${column} := ${flips[how](`new.${column}`)}; return new; end $$`)
    await server.query(`create trigger flips before insert on ${name} for each row
      execute function flip_${table}_${column}()`)
    return () => server.query(`drop trigger flips on ${name}`)
  }
  await server.query(`drop table if exists before_flip`)
  await server.query(`create table before_flip as select * from ${name} where ${row}`)
  await server.query(`update ${name} set ${column} = ${flips[how](column)} where ${row}`)
  const other = how === 'set' ? `${column} is not null`
    : `${column} = (select ${flips[how](column)} from before_flip)`
  return async () => {
    // A machine whose row is missing is there again by its next look.
    if (table === 'machines' && (column === 'store' || column === 'machine')) {
      await server.query(`delete from ${name} as one using before_flip as old
        where one.store = old.store and one.machine = old.machine`)
    }
    await server.query(`update ${name}
      set ${column} = (select ${column} from before_flip) where ${other}`)
  }
}

/** Lets a person go on: what is still held by a row that nobody knows is taken away. */
const clear = async (): Promise<void> => {
  for (const table of ['leases', 'fences']) await server.query(`delete from sallyport.${table}`)
}

const sent = (): number => one.inferences().length
const short = { args: ['--wait-turn', '1'] }

const judged = async (t: Test, of: Flip): Promise<void> => {
  const name = `${of.table}.${of.column} ${of.how}`
  // The second machine lacks the record that is flipped.
  must(await one.run(['goal', 'add', `before ${name}`]))
  const back = await flip(of)
  const before = sent()
  const asks = [() => askOn(two, short), () => one.ask(short)]
  if (of.isGone === true) asks.reverse()
  const asked: Ran[] = []
  for (const ask of asks) asked.push(await ask())
  t.ok(sent() - before <= 2, `${name}: two asks, ${sent() - before} requests`)
  const revoked = await one.run(['policy', 'revoke', '--json'])
  const behind = sent()
  const late = [await askOn(two, short), await one.ask(short)]
  if (revoked.status === 0) t.equal(sent(), behind, `${name}: nothing leaves behind a revoke`)
  for (const ran of late) t.not(ran.status, 0, `${name}: no answer behind a revoke`)
  const read = [await two.run(['state', 'check', '--json']), await two.run(['status', '--json'])]
  await back()
  await clear()
  t.comment(`${name}: asked ${asked.map(endOf).join(', ')}; revoke ${endOf(revoked)}; then ${
    late.map(endOf).join(', ')}; check ${read.map(endOf).join(', ')}`)
}

const healed = async (t: Test, name: string): Promise<void> => {
  // Whoever has what was stored gives it back; the other one cannot follow before.
  for (const at of [two, one, two]) await at.run(['state', 'repair'])
  for (const at of [one, two]) {
    const ran = await at.run(['goal', 'add', `behind ${name}`, '--json'])
    if (ran.status !== 0) must(await at.run(['state', 'repair', '--json']))
    must(await at.run(['goal', 'add', `again behind ${name}`, '--json']))
  }
  await one.gov.store.fresh()
  const view = one.gov.store.read()
  const rows = [
    ...view.all(collections.openReservations), ...view.all(collections.closedReservations),
  ].filter(({ doc }) => doc.state === 'settled' || doc.state === 'unknown')
  t.equal(rows.length, sent(), `${name}: each request has its row`)
  t.strictSame(account(view, roomy.boundMicrousd), [], name)
  t.strictSame(await one.json(['ledger', 'show']), await two.json(['ledger', 'show']), name)
  for (const at of [one, two]) t.equal((await at.json(['state', 'check'])).ok, true, name)
  must(await one.run(setupFlags(one.place, await one.revision(), roomy)))
  for (const { doc } of view.all(collections.openReservations)) {
    if (doc.state !== 'unknown') continue
    must(await one.run([
      'ledger', 'settle', doc.operation_id, '--amount-microusd', '0', '--yes',
    ]))
  }
}

const taken = slice('flipped columns', flipped, {
  axesOf: ({ table }) => [table], idOf: ({ table, column, how }) => `${table}.${column} ${how}`,
})

for (const [at, of] of taken.entries()) {
  t.test(`a flipped bit of ${of.table}.${of.column} (${of.how}) is told, refused or harmless`, async (t) => {
    if (at > 0 && at % flipsEach === 0) ({ server, one, two } = await founded())
    await judged(t, of)
    await healed(t, `${of.table}.${of.column} ${of.how}`)
  })
}

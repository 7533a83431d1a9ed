/** How a server that is not known is made known, and how a store ends. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { runForm, runOfNow } from '../../../../src/state/place/known-run.js'
import { linkOf, PlacedStore, recordAfter, slowly } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'

const server = await startPostgres(t)

const two = async (t: Test) => {
  const store = new PlacedStore(t, server)
  const { place, machine } = await store.founded()
  const joined = await store.joined(place, 'other')
  return { store, place, machine, other: joined.place, second: joined.machine }
}

const changed = async ({ storeId }: PlacedStore): Promise<void> =>
  void await server.query("update sallyport.stores set run = 'x' where store = $1", [storeId])

t.test('a server that is not known is told how far each machine had come', async (t) => {
  const { store, place, other, machine, second } = await two(t)
  const first = recordAfter(store.base)
  await place.append(store.base, first, [])
  t.hasStrict(await other.standing(), { isChanged: false, last: first, vouchers: [] })
  await changed(store)
  await place.vouch(store.base, 'first')
  await place.vouch(first, 'first')
  await other.vouch(store.base, 'first')
  const { isChanged, last, vouchers, machines } = await other.standing()
  t.strictSame([isChanged, last], [true, first])
  t.strictSame(new Map(vouchers.map((one) => [one.machine, one.sequence])),
    new Map([[machine, 8], [second, 7]]))
  t.strictSame(machines.map(({ name }) => name), ['first', 'other'])
  await store.placeOf(randomUUID()).vouch({ sequence: 6, link: linkOf('before') }, 'stranger')
  t.equal((await place.standing()).vouchers.length, 2, 'a stranger says nothing')
})

t.test('the run of a server that is known is remembered from its first answer, that of another not for being looked at', async (t) => {
  const { store, machine } = await two(t)
  const knowing = () => {
    const run = runOfNow()
    return { run, place: store.placeOf(machine, { run }) }
  }
  const [asked, looked, later] = [knowing(), knowing(), knowing()]
  await asked.place.follow(7, 10)
  await looked.place.standing()
  t.match(asked.run.known(), runForm)
  t.equal(looked.run.known(), asked.run.known())
  await changed(store)
  t.equal((await later.place.standing()).isChanged, true)
  await t.rejects(later.place.follow(7, 10), { code: 'server_changed', reason: 'run' })
  t.equal(later.run.known(), null, 'nobody has said that this one is to be gone on at')
})

t.test('records that a server lost are given back, and stops lie there, with its being known, or neither', async (t) => {
  const { store, place, other } = await two(t)
  const [first, stray] = [recordAfter(store.base), recordAfter(store.base)]
  const second = recordAfter(first)
  await changed(store)
  const stops = [{ id: 'stp_a', body: Buffer.from('a') }, { id: 'stp_b', body: Buffer.from('b') }]
  t.equal(await place.accept(stray, [second], [], stops), 'moved')
  t.equal((await place.standing()).isChanged, true)
  t.equal(await place.accept(store.base, [first, second], [], stops), 'accepted')
  const looked = await other.follow(7, 10)
  t.strictSame([looked.records, looked.stops], [[first, second], stops])
  t.equal(await other.take('lane', 1_000), null, 'whoever had the lane may have a request open')
  t.equal(await other.accept(store.base, [stray]), 'moved')
  t.equal(await place.accept(store.base, [first, second]), 'accepted', 'its answer was lost')
  t.equal(await other.append(second, recordAfter(second), []), 'placed')
})

t.test('a store ends at the record that its machine stands at, and for every machine', async (t) => {
  const { store, place, other } = await two(t)
  const first = recordAfter(store.base)
  await other.append(store.base, first, [])
  t.equal(await place.end(store.base), 'moved', 'another machine has placed a record')
  t.equal(await other.append(first, recordAfter(first), []), 'placed')
  const last = (await place.follow(8, 10)).records.at(-1) ?? first
  const stop = { id: 'stp_1', body: last.body }
  await other.putStop(stop.id, stop.body)
  t.strictSame(await place.end(last), [stop])
  t.strictSame(await place.end(last), [stop], 'where it was cut off it is said again')
  const unshared = { kind: 'blocked', code: 'state_unshared' }
  await t.rejects(other.end(last), unshared, 'no other machine takes it back as well')
  for (const one of [place, other]) {
    await t.rejects(one.follow(9, 10), unshared)
    await t.rejects(one.append(last, recordAfter(last), []), unshared)
    await t.rejects(one.take('lane', 1_000), unshared)
  }
})

t.test('no record is placed behind the one that a store ended at, however close', async (t) => {
  for (let round = 0; round < 30; round += 1) {
    const { store, place, other } = await two(t)
    await other.follow(7, 1)
    const record = recordAfter(store.base)
    const append = async (): Promise<string> => {
      for (let number = 0; number < round % 4; number += 1) await other.follow(7, 1)
      return other.append(store.base, record, [])
    }
    const appended = append().catch(() => 'refused')
    for (let number = 0; number < round % 3; number += 1) await place.follow(7, 1)
    const ended = await place.end(store.base) !== 'moved'
    t.equal(await appended, ended ? 'refused' : 'placed')
    const [row] = await server.query<{ n: number }>(
      'select count(*)::int as n from sallyport.records where store = $1', [store.storeId])
    t.equal(row?.n, ended ? 1 : 2)
  }
})

t.test('whoever ends a store waits for what is being placed', async (t) => {
  const { store, place, other } = await two(t)
  const underWay = await slowly(server, store.storeId)
  const appended = other.append(store.base, recordAfter(store.base), [])
  await underWay()
  t.equal(await place.end(store.base), 'moved')
  t.equal(await appended, 'placed')
})

t.test('a stop lies with whoever ends a store, or is told to be on its machine alone', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const { store, place, other } = await two(t)
    await other.follow(7, 1)
    const put = other.putStop('stp_1', store.base.link).then(() => 'put', () => 'refused')
    for (let number = 0; number < round % 4; number += 1) await place.follow(7, 1)
    t.equal(await place.end(store.base).then((stops) => stops.length), await put === 'put' ? 1 : 0)
  }
})

const ofRun = (known: string | null) => {
  const noted: string[] = []
  return { noted, known: () => noted.at(-1) ?? known, note: (run: string) => void noted.push(run) }
}

t.test('a server that a machine had left takes itself for the one it was, and leads nobody back', async (t) => {
  const { store, machine } = await two(t)
  const run = ofRun('1/0000000A')
  const place = store.placeOf(machine, { run })
  await t.rejects(place.follow(7, 1), { code: 'server_changed', reason: 'run' })
  await t.rejects(place.standing(), { kind: 'conflict', code: 'server_changed', reason: 'left' })
  t.strictSame(run.noted, [])
  await changed(store)
  t.equal((await place.standing()).isChanged, true, 'one that was promoted once more is another')
  t.strictSame(run.noted, [])
  await place.vouch(store.base, 'first')
  t.equal(run.noted.length, 1)
})

t.test('who knows an earlier timeline of the same server is late, and a machine that was retired hears that', async (t) => {
  const { store, place, machine, other, second } = await two(t)
  await place.follow(7, 1)
  const [row] = await server.query<{ run: string }>(
    'select run from sallyport.stores where store = $1', [store.storeId])
  const [system = '', line = ''] = (row?.run ?? '').split('/')
  const timeline = Number.parseInt(line, 16)
  const runOf = (number: number): string =>
    `${system}/${number.toString(16).toUpperCase().padStart(8, '0')}`
  const late = ofRun(runOf(timeline - 1))
  t.equal((await store.placeOf(machine, { run: late }).standing()).isChanged, false)
  t.strictSame(late.noted, [row?.run])
  await t.rejects(store.placeOf(machine, { run: ofRun(runOf(timeline + 1)) }).standing(),
    { code: 'server_changed', reason: 'left' })
  await place.retire(second)
  await t.rejects(other.standing(), { kind: 'blocked', code: 'machine_retired' })
})

t.test('what a machine said counts for a day, and tells whether its history is the one of the server', async (t) => {
  const { store, place, other, second } = await two(t)
  await changed(store)
  await place.vouch({ sequence: 7, link: linkOf('another') }, 'first')
  await other.vouch({ sequence: 8, link: linkOf('beyond') }, 'first')
  const said = async () => new Map((await place.standing()).vouchers.map(
    ({ machine, isOther }) => [machine === second, isOther]))
  t.strictSame(await said(), new Map([[false, true], [true, false]]))
  await server.query("update sallyport.machines set seen = now() - interval '25 hours'"
    + ' where machine = $1', [second])
  t.strictSame(await said(), new Map([[false, true]]))
  await other.vouch(store.base, 'first')
  t.equal((await said()).size, 2)
})

t.test('only a machine of the store ends it, at a server that is known', async (t) => {
  const { store, place } = await two(t)
  await t.rejects(store.placeOf(randomUUID()).end(store.base), { code: 'machine_retired' })
  await changed(store)
  await t.rejects(place.end(store.base), { code: 'server_changed', reason: 'run' })
})

t.test('a machine whose joining a server lost is told that the server lacks records, and says how far it came', async (t) => {
  const { store, place, second } = await two(t)
  const first = recordAfter(store.base)
  await place.append(store.base, first, [])
  await server.query('delete from sallyport.machines where machine = $1', [second])
  const introduced = (known: number) =>
    store.placeOf(second, { machine: { machine: second, writes: 1, known: () => known } })
  const other = introduced(8)
  await t.rejects(other.follow(8, 1),
    { kind: 'conflict', code: 'server_changed', reason: 'behind' })
  await t.rejects(introduced(6).follow(6, 1), { kind: 'blocked', code: 'machine_retired' },
    'the state was taken back and shared anew since')
  await t.rejects(other.vouch(first, 'first'), { code: 'machine_name_taken' })
  await other.vouch(first, 'other')
  const { vouchers, machines } = await place.standing()
  t.hasStrict(vouchers, [{ machine: second, sequence: 8 }])
  t.strictSame(machines.map(({ name }) => name), ['first', 'other'])
  await other.follow(8, 1)
})

t.test('what gives a state back, or ends one, stands on the disk of the server, whatever it is set to', async (t) => {
  const { store, place } = await two(t)
  await server.query('create table kept_as (value text)')
  await server.query(`create function says_kept() returns trigger language plpgsql as
    $$ begin insert into kept_as select current_setting('synchronous_commit'); return new; end $$`)
  await server.query(`create trigger says after update on sallyport.stores
    for each row execute function says_kept()`)
  await changed(store)
  await server.query('delete from kept_as')
  await server.query('alter role sallyport set synchronous_commit = off')
  t.teardown(() => server.query('alter role sallyport reset synchronous_commit;'
    + 'drop function says_kept cascade'))
  const asked = async (): Promise<unknown> => server.query('select value from kept_as')
  const by = store.placeOf((await place.standing()).machines[0]?.machine ?? '')
  t.equal(await by.accept(store.base, []), 'accepted')
  t.strictSame(await asked(), [{ value: 'on' }])
  t.strictSame(await by.end(store.base), [])
  t.strictSame(await asked(), [{ value: 'on' }, { value: 'on' }])
})

t.test('a state is not ended over a record that was under way, however the server isolates transactions', async (t) => {
  await server.query("alter role sallyport set default_transaction_isolation = 'repeatable read'")
  t.teardown(() => server.query('alter role sallyport reset default_transaction_isolation'))
  const { store, place, other } = await two(t)
  const underWay = await slowly(server, store.storeId)
  const record = recordAfter(store.base)
  const appended = other.append(store.base, record, [])
  await underWay()
  t.equal(await place.end(store.base), 'moved')
  t.equal(await appended, 'placed')
  t.strictSame((await place.follow(7, 10)).records, [record])
})

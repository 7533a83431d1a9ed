/** Leases end by the server's clock, and by nothing else. */
import t, { type Test } from 'tap'
import { PlacedStore, recordAfter } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { until } from '../../../support/until.js'

const server = await startPostgres(t)

const two = async (t: Test) => {
  const store = new PlacedStore(t, server)
  const { place, machine } = await store.founded()
  return { store, machine, place, other: (await store.joined(place, 'other')).place }
}

t.test('a lease is one machine\'s until its time is over', async (t) => {
  const { store, machine, place, other } = await two(t)
  const token = String(await place.take('lane', 700))
  t.equal(await other.take('lane', 700), null)
  t.strictSame((await other.follow(7, 1)).leases, [{ name: 'lane', machine, token: null }])
  await until('it is over', async () => await other.take('lane', 60_000) !== null)
  t.strictSame(await place.renew([token], 60_000), [], 'it is not ours any more')
  t.equal(await place.append(store.base, recordAfter(store.base), [token]), 'lease_lost')
  await place.release([token])
  t.equal((await place.follow(7, 1)).leases.length, 1, 'what another one has is left alone')
})

t.test('a lease that is over is not renewed, even where nobody has taken it', async (t) => {
  const { store, place } = await two(t)
  const token = String(await place.take('lane', 50))
  await until('it is over', async () => (await place.follow(7, 1)).leases.length === 0)
  t.strictSame(await place.renew([token], 60_000), [])
  t.equal(await place.append(store.base, recordAfter(store.base), [token]), 'lease_lost')
})

t.test('a lost connection and a server that starts again free no lease', async (t) => {
  const { place, other } = await two(t)
  const token = String(await place.take('lane', 120_000))
  await server.terminateAll()
  t.equal(await other.take('lane', 1_000), null)
  await server.restart()
  t.equal(await other.take('lane', 1_000), null)
  t.strictSame(await place.renew([token], 120_000), [token], 'and it is still ours')
})

t.test('a machine takes over what a process of its own left', async (t) => {
  const { store, machine, place, other } = await two(t)
  const left = String(await place.take('lane', 120_000))
  const again = store.placeOf(machine)
  const token = String(await again.take('lane', 120_000))
  t.not(token, left)
  t.strictSame(await place.renew([left, token], 120_000), [token])
  await place.release([left])
  t.equal(await other.take('lane', 1_000), null, 'the token of before gives nothing back')
  await place.release([token])
  t.type(await other.take('lane', 1_000), 'string')
})

t.test('a copy of a machine takes no lease that the machine holds, though it has its id', async (t) => {
  const store = new PlacedStore(t, server)
  const { machine } = await store.founded()
  const as = (holder: string) => store.placeOf(machine, { machine: { machine, writes: 1, holder } })
  const [place, copy] = [as('1'), as('2')]
  const token = String(await place.take('lane', 120_000))
  t.equal(await copy.take('lane', 1_000), null)
  t.strictSame(await place.renew([token], 120_000), [token], 'and it is still the machine\'s')
  t.type(await as('1').take('lane', 50), 'string', 'the same holder takes it over')
  await until('it is over', async () => await copy.take('lane', 120_000) !== null)
  t.equal(await place.take('lane', 1_000), null, 'nor the other way round')
})

t.test('nobody takes a lease while one of a beginning that goes ahead is live', async (t) => {
  const { place, other } = await two(t)
  const wish = String(await other.take('want/1/a', 120_000))
  t.equal(await place.take('lane', 1_000, ['want/0/', 'want/1/']), null)
  t.type(await place.take('lane', 1_000, ['want/0/', 'WANT/', 'ant/']), 'string')
  await other.release([wish])
  t.type(await place.take('lane', 1_000, ['want/1/']), 'string')
  await other.take('want/1/a', 50)
  await until('it is over', async () => await place.take('lane', 1_000, ['want/']) !== null)
})

t.test('of many that ask for a lease at once one gets it', async (t) => {
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  const machines = await Promise.all(Array.from({ length: 8 }, (_, number) =>
    store.joined(place, `m${number}`)))
  for (let round = 0; round < 20; round += 1) {
    const tokens = await Promise.all(machines.map(({ place: by }) => by.take(`l${round}`, 60_000)))
    t.equal(tokens.filter((token) => token !== null).length, 1)
  }
})

t.test('several leases are renewed in one question, and none in none', async (t) => {
  const { place, other } = await two(t)
  const [a, b] = [String(await place.take('a', 60_000)), String(await place.take('b', 60_000))]
  const c = String(await other.take('c', 60_000))
  t.strictSame(await place.renew([b, c, a], 60_000), [b, a])
  t.strictSame(await place.renew([], 60_000), [])
  await place.release([])
  await place.release([a, b, c])
  t.strictSame((await place.follow(7, 1)).leases.map(({ name }) => name), ['c'])
})

/** A former server that is still there beside the one that took over, and a copy put back. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { placeTimes } from '../../../src/state/place/place.js'
import { failure, must } from '../../support/must.js'
import { goBy } from '../../support/place/links.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres, type Postgres } from '../../support/place/postgres.js'
import { startProxy, type Proxy } from '../../support/place/proxy.js'
import { until } from '../../support/until.js'
import type { AlphaWorld, Placed } from '../../world/world.js'

/** So long the lane is kept behind a change of the server. */
placeTimes.leaseMs = 3_000

/** A machine and its way, which may lead to another server. */
interface OwnWay {
  readonly way: Proxy
  leadTo(server: Pick<Postgres, 'port'>): void
}

const ownWay = async (t: Test, first: Pick<Postgres, 'port'>): Promise<OwnWay> => {
  let { port } = first
  const way = await startProxy(t, () => port)
  return {
    way,
    leadTo(server) {
      ({ port } = server)
      way.cut()
    },
  }
}

interface Two {
  readonly server: Postgres
  readonly one: AlphaWorld
  readonly two: Placed
  readonly ofOne: OwnWay
  readonly ofTwo: OwnWay
}

const twoMachines = async (t: Test): Promise<Two> => {
  const server = await startPostgres(t)
  const [ofOne, ofTwo] = [await ownWay(t, server), await ownWay(t, server)]
  const one = await firstMachine(t, `postgres://sallyport@127.0.0.1:${ofOne.way.port}/postgres`)
  const two = await nextMachine(t, one)
  goBy(two, ofTwo.way)
  must(await askOn(two))
  await one.gov.store.fresh()
  return { server, one, two, ofOne, ofTwo }
}

/** A standby that has all, to which nothing more comes, and that writes from now on. */
const promotedBeside = async (
  t: Test, server: Postgres, meanwhile: () => Promise<unknown>,
): Promise<Postgres> => {
  const link = await startProxy(t, () => server.port)
  const standby = await server.standby(link)
  const [now] = await server.query<{ at: string }>('select pg_current_wal_lsn()::text as at')
  await until('the standby has all', async () => (await standby.query<{ done: boolean }>(
    'select pg_last_wal_replay_lsn() >= $1::pg_lsn as done', [now?.at]))[0]?.done === true)
  link.hold()
  await meanwhile()
  await standby.promote()
  return standby
}

const accept = ['state', 'accept-server', '--yes']

t.test('a machine that was left out goes on at the former server alone; where it was forced the whole ceiling is held', async (t) => {
  const { server, one, two, ofOne, ofTwo } = await twoMachines(t)
  const standby = await promotedBeside(t, server, async () => must(await one.ask()))
  ofTwo.leadTo(standby)
  t.hasStrict(failure(await askOn(two)), { code: 'server_changed' })
  must(await one.ask())
  t.hasStrict(await two.json([...accept, '--without', 'a']), { without: ['a'] })
  must(await two.run(['login']))
  t.hasStrict((await two.json(['ledger', 'show'])).ledger, { available_microusd: 0 })
  const sent = one.inferences().length
  t.not((await askOn(two)).status, 0)
  t.equal(one.inferences().length, sent, 'nothing is sent where it was forced')
  must(await one.ask())
  ofOne.leadTo(standby)
  t.hasStrict(failure(await one.ask()), { status: 5, code: 'server_changed' })
  t.equal(one.inferences().length, sent + 1, 'nothing is sent twice')
})

t.test('a machine that accepted a server does not go back to the former one', async (t) => {
  const { server, one, two, ofOne, ofTwo } = await twoMachines(t)
  const standby = await promotedBeside(t, server, () => Promise.resolve())
  ofOne.leadTo(standby)
  ofTwo.leadTo(standby)
  t.hasStrict(failure(await two.run([...accept, '--json'])), { code: 'machines_to_ask' })
  t.hasStrict(await one.json(accept), { accepted: true })
  must(await one.ask())
  const sent = one.inferences().length
  ofTwo.leadTo(server)
  t.hasStrict(failure(await askOn(two)), { status: 5, code: 'server_changed' })
  ofOne.leadTo(server)
  t.hasStrict(failure(await one.ask()), { status: 5, code: 'server_changed' })
  t.equal(one.inferences().length, sent)
  ofOne.leadTo(standby)
  ofTwo.leadTo(standby)
  must(await askOn(two))
  t.equal(one.inferences().length, sent + 1)
  t.equal((await two.json(['state', 'check'])).ok, true)
})

t.test('a server that a machine left is not accepted by it, and it goes on where it was', async (t) => {
  const { server, one, two, ofOne, ofTwo } = await twoMachines(t)
  const standby = await promotedBeside(t, server, () => Promise.resolve())
  for (const way of [ofOne, ofTwo]) way.leadTo(standby)
  t.hasStrict(failure(await two.run([...accept, '--json'])), { code: 'machines_to_ask' })
  t.hasStrict(await one.json(accept), { accepted: true })
  must(await two.run(['goal', 'add', 'here']))
  ofTwo.leadTo(server)
  t.hasStrict((await two.run([...accept, '--json'])).error(),
    { code: 'server_changed', reason: 'left' })
  t.hasStrict(failure(await askOn(two)), { status: 5, code: 'server_changed' })
  ofTwo.leadTo(standby)
  must(await askOn(two))
  must(await one.ask())
})

t.test('a server is accepted by an owner where no session is live, since nobody can sign in there', async (t) => {
  const { server, one, two, ofOne, ofTwo } = await twoMachines(t)
  must(await two.run(['logout']))
  const standby = await promotedBeside(t, server, () => Promise.resolve())
  for (const way of [ofOne, ofTwo]) way.leadTo(standby)
  t.hasStrict(failure(await two.run(['login', '--json'])), { code: 'server_changed' })
  t.hasStrict((await two.run([...accept, '--owner', 'nobody', '--json'])).error(),
    { code: 'login_refused' })
  t.hasStrict(failure(await one.run([...accept, '--json'])), { code: 'machines_to_ask' })
  t.hasStrict(await two.json(accept), { accepted: true })
  must(await two.run(['login']))
  t.ok((await two.json(['audit', 'list'])).some(({ what, root }: Record<string, unknown>) =>
    what === 'state.server_accepted' && root === null))
  must(await askOn(two))
})

t.test('a replica is not repaired out of a server that its machine had left', async (t) => {
  const { server, one, two, ofOne, ofTwo } = await twoMachines(t)
  const standby = await promotedBeside(t, server, () => Promise.resolve())
  for (const way of [ofOne, ofTwo]) way.leadTo(standby)
  await two.run(accept)
  must(await one.run(accept))
  must(await two.run(['goal', 'add', 'here']))
  for (const name of readdirSync(join(two.place.stateDir, 'wal'))) {
    rmSync(join(two.place.stateDir, 'wal', name))
  }
  ofTwo.leadTo(server)
  t.hasStrict((await two.run(['state', 'repair', '--json'])).error(),
    { code: 'server_changed', reason: 'run' })
  ofTwo.leadTo(standby)
  must(await two.run(['state', 'repair']))
  must(await askOn(two))
})

t.test('a copy of a server that is put back stops everything once a machine sees it that had seen more', async (t) => {
  const { server, one, two, ofOne, ofTwo } = await twoMachines(t)
  const data = await server.image()
  must(await one.ask())
  await server.stop()
  const old = await startPostgres(t, { data })
  ofOne.leadTo(old)
  ofTwo.leadTo(old)
  const sent = one.inferences().length
  t.hasStrict(failure(await one.ask()), { status: 5, code: 'server_changed' })
  t.not((await askOn(two)).status, 0, 'it is stopped for all machines')
  t.equal(one.inferences().length, sent)
  t.hasStrict(failure(await one.run([...accept, '--json'])), { code: 'machines_to_ask' })
  t.hasStrict(failure(await two.run(['goal', 'add', 'no', '--json'])), { code: 'server_changed' })
  t.hasStrict(failure(await two.run(['machine', 'retire', 'a', '--yes', '--json'])),
    { code: 'server_changed' })
  t.hasStrict(await two.json(accept), { accepted: false })
  t.hasStrict(await one.json(accept), { accepted: true })
  must(await two.run(['goal', 'add', 'on']))
  t.strictSame(await one.json(['ledger', 'show']), await two.json(['ledger', 'show']))
  t.equal((await two.json(['policy', 'show'])).policy.state, 'revoked')
})

t.test('machines that had seen no more than a copy go on as if nothing had been', async (t) => {
  const { server, one, two, ofOne, ofTwo } = await twoMachines(t)
  must(await one.ask())
  must(await two.run(['goal', 'add', 'one']))
  const data = await server.image()
  await server.stop()
  const old = await startPostgres(t, { data })
  ofOne.leadTo(old)
  ofTwo.leadTo(old)
  t.equal((await one.ask()).status, 0)
  t.equal((await askOn(two)).status, 0)
})

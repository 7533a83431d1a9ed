/** A real standby that lacks the last records is promoted: nobody writes before all vouched. */
import t from 'tap'
import { placeTimes } from '../../../src/state/place/place.js'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres, type Postgres } from '../../support/place/postgres.js'
import { startProxy } from '../../support/place/proxy.js'
import { until } from '../../support/until.js'
import { moneyAt, waitingAsk } from '../../support/place/waiting-ask.js'

/** Waits until a standby has replayed all that its primary has written. */
const caughtUp = async (primary: Postgres, standby: Postgres): Promise<void> => {
  const [now] = await primary.query<{ at: string }>('select pg_current_wal_lsn()::text as at')
  await until('the standby has all', async () => {
    const [row] = await standby.query<{ done: boolean }>(
      'select pg_last_wal_replay_lsn() >= $1::pg_lsn as done', [now?.at])
    return row?.done === true
  })
}

/** So long the lane is kept behind a promotion. */
placeTimes.leaseMs = 3_000

for (const ahead of ['first', 'second'] as const) {
  t.test(`a promoted standby lacks records, and the ${ahead} machine gives them back`, async (t) => {
    const primary = await startPostgres(t)
    let port = primary.port
    const proxy = await startProxy(t, () => port)
    const one = await firstMachine(t, `postgres://sallyport@127.0.0.1:${proxy.port}/postgres`)
    const two = await nextMachine(t, one)
    must(await one.ask())
    const link = await startProxy(t, () => primary.port)
    const standby = await primary.standby(link)
    await caughtUp(primary, standby)
    link.hold()
    const far = ahead === 'first' ? one : two
    must(await askOn(far))
    await primary.stop('SIGKILL')
    await standby.promote()
    port = standby.port
    proxy.cut()
    const sent = one.inferences().length
    for (const machine of [one, two]) {
      t.hasStrict(failure(await askOn(machine)), { status: 5, code: 'server_changed' })
    }
    t.equal(one.inferences().length, sent, 'nothing was sent')
    const near = far === one ? two : one
    t.hasStrict(failure(await near.run(['state', 'accept-server', '--yes', '--json'])), {
      status: 5, code: 'machines_to_ask',
    })
    t.hasStrict(await far.json(['state', 'accept-server', '--yes']), { accepted: true })
    t.hasStrict(await near.json(['state', 'accept-server', '--yes']), { accepted: false })
    t.strictSame(await near.json(['ledger', 'show']), await far.json(['ledger', 'show']))
    must(await askOn(near))
    t.equal(one.inferences().length, sent + 1)
  })
}

t.test('a machine that is gone is left out: revoked, signed out, and the whole ceiling is held', async (t) => {
  const primary = await startPostgres(t)
  let port = primary.port
  const proxy = await startProxy(t, () => port)
  const one = await firstMachine(t, `postgres://sallyport@127.0.0.1:${proxy.port}/postgres`)
  await nextMachine(t, one)
  const standby = await primary.standby(await startProxy(t, () => primary.port))
  await caughtUp(primary, standby)
  await primary.stop('SIGKILL')
  await standby.promote()
  port = standby.port
  proxy.cut()
  const accept = ['state', 'accept-server', '--yes']
  t.hasStrict(failure(await one.run([...accept, '--json'])), { status: 5, code: 'machines_to_ask' })
  t.hasStrict(await one.json([...accept, '--without', 'b']), { accepted: true, without: ['b'] })
  t.hasStrict(failure(await one.ask()), { status: 4 }, 'its session has ended')
  must(await one.run(['login']))
  const [newest] = await one.json(['policy', 'history', '--limit', '1'])
  t.equal(newest.state, 'revoked')
  t.hasStrict((await one.json(['ledger', 'show'])).ledger, { available_microusd: 0 })
  t.hasStrict(await one.json(['machine', 'list']), [{ name: 'a', retired_at: null }, { name: 'b' }])
  t.not((await one.json(['machine', 'list']))[1].retired_at, null)
  t.equal((await one.json(['state', 'keys'])).ranges.length, 1, 'any key may have been used there')
  t.equal(one.inferences().length, 0)
})

t.test('leaving a machine out that was cut off is no less settled where another machine looked meanwhile', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  await nextMachine(t, one)
  const third = await nextMachine(t, one, 'c')
  const said = async (): Promise<readonly string[]> =>
    (await third.json(['audit', 'list'])).map(({ what }: { what: string }) => what)
  const accept = ['state', 'accept-server', '--yes']
  const [row] = await server.query<{ last: number }>(
    'select max(sequence)::int as last from sallyport.records')
  await server.query(`alter table sallyport.records add constraint cut_off
    check (sequence <= ${(row?.last ?? 0) + 2})`)
  t.not((await one.run([...accept, '--without', 'b'])).status, 0)
  await server.query('alter table sallyport.records drop constraint cut_off')
  t.hasStrict(await third.json(accept), { accepted: false })
  const before = await said()
  t.ok(before.includes('state.server_accepted'), 'that it was accepted is recorded')
  t.notOk(before.includes('state.restored'), 'and nothing is settled')
  t.hasStrict(await one.json([...accept, '--without', 'b']), { accepted: true, without: ['b'] })
  t.hasStrict(failure(await one.ask()), { status: 4 }, 'its session has ended')
  must(await one.run(['login']))
  t.equal((await one.json(['policy', 'show'])).policy.state, 'revoked')
  t.hasStrict((await one.json(['ledger', 'show'])).ledger, { available_microusd: 0 })
  t.type((await one.json(['machine', 'list']))[1].retired_at, 'string')
})

t.test('work of another machine whose leases a promotion lost is not ended before a lease is over', async (t) => {
  const { leaseMs } = placeTimes
  t.teardown(() => { placeTimes.leaseMs = leaseMs })
  placeTimes.leaseMs = 150_000
  const primary = await startPostgres(t)
  let port = primary.port
  const proxy = await startProxy(t, () => port)
  const one = await firstMachine(t, `postgres://sallyport@127.0.0.1:${proxy.port}/postgres`)
  const two = await nextMachine(t, one)
  const link = await startProxy(t, () => primary.port)
  const standby = await primary.standby(link)
  await caughtUp(primary, standby)
  link.hold()
  const ask = waitingAsk(two, 'replied')
  await ask.stopped
  await primary.stop('SIGKILL')
  await standby.promote()
  port = standby.port
  proxy.cut()
  const accept = ['state', 'accept-server', '--yes', '--json']
  await one.run(accept)
  must(await two.run(accept))
  must(await one.run(accept))
  t.strictSame(await standby.query("select from sallyport.leases where name like 'hold/%'"), [])
  must(await one.run(['goal', 'add', 'next']))
  t.equal(moneyAt(one, ask.key), 'contacted')
  t.hasStrict(must(await one.run(['state', 'compact', '--json'])).json(), { orphans_removed: 0 })
  await standby.query('update sallyport.leases set ends = clock_timestamp()')
  must(await one.run(['goal', 'add', 'behind the lease']))
  t.equal(moneyAt(one, ask.key), 'unknown')
  ask.go()
  t.not((await ask.asking).status, 0)
  t.equal(moneyAt(one, ask.key), 'unknown')
})

/** One ledger, one policy and one revoke on two machines that share a state. */
import t from 'tap'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'

t.test('what is asked on two machines is one ledger under one ceiling, and sent once each', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await one.ask())
  must(await askOn(two))
  t.equal(one.inferences().length, 2)
  t.equal(one.billings().length, 2)
  await one.gov.store.fresh()
  const [a, b] = [await one.json(['ledger', 'show']), await two.json(['ledger', 'show'])]
  t.strictSame(a, b)
  t.equal((await one.json(['state', 'check'])).ok, true)
  t.equal((await two.json(['state', 'check'])).ok, true)
})

t.test('what was stopped on one machine is not sent on the other', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await askOn(two))
  must(await one.run(['policy', 'revoke']))
  const refused = failure(await askOn(two))
  t.not(refused.status, 0)
  t.equal(one.inferences().length, 1)
})

t.test('while the server is away nothing is sent, reads answer, and a revoke is in force here', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await one.ask())
  await server.stop()
  t.hasStrict(failure(await one.ask()), { status: 11, code: 'place_unreachable' })
  t.hasStrict(failure(await askOn(two)), { status: 11, code: 'place_unreachable' })
  must(await one.run(['ledger', 'show']))
  must(await two.run(['alpha', 'tasks']))
  t.hasStrict(failure(await two.run(['policy', 'revoke', '--json'])), {
    status: 11, code: 'stop_out_of_reach',
  })
  t.equal(one.inferences().length, 1)
  await server.start()
  t.not(failure(await askOn(two)).status, 0)
  t.equal(one.inferences().length, 1)
  t.not(failure(await one.ask()).status, 0, 'it was carried there')
  t.equal(one.inferences().length, 1)
})

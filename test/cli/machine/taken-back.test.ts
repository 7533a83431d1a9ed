/** A state that was taken back from its server, where that was cut off behind the server's part. */
import t, { type Test } from 'tap'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'

/** Two machines of a state that the first one ended at its server, and nothing more. */
const cutOff = async (
  t: Test, before: (one: Awaited<ReturnType<typeof firstMachine>>) => unknown,
) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await one.run(['goal', 'add', 'Read']))
  await before(one)
  await server.query(`update sallyport.stores set ended = now(),
    ended_by = (select machine from sallyport.machines where name = 'a')`)
  await server.query('update sallyport.machines set retired = now()')
  return { one, two }
}

t.test('it is taken back by the same line again, on that machine and no other', async (t) => {
  const { one, two } = await cutOff(t, () => undefined)
  t.hasStrict(failure(await one.run(['goal', 'add', 'no', '--json'])), { code: 'state_unshared' })
  t.hasStrict(failure(await two.run(['state', 'unshare', '--yes', '--json'])),
    { code: 'state_unshared' })
  must(await one.run(['state', 'unshare', '--yes']))
  must(await one.run(['goal', 'add', 'Write']))
  must(await one.ask())
  t.equal((await one.json(['state', 'check'])).ok, true)
  t.hasStrict(failure(await askOn(two)), { code: 'state_unshared' })
})

t.test('an owner takes it back where no session is live, since nobody can sign in any more', async (t) => {
  const { one } = await cutOff(t, async (at) => must(await at.run(['logout'])))
  t.hasStrict(failure(await one.run(['login', '--json'])), { code: 'state_unshared' })
  must(await one.run(['state', 'unshare', '--yes']))
  must(await one.run(['login']))
})

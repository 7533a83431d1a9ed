/** What `machine list` tells of a machine: how far it has come, and when it was there. */
import t from 'tap'
import { must } from '../../support/must.js'
import { goBy } from '../../support/place/links.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { startProxy } from '../../support/place/proxy.js'

t.test('a machine is noted to have been there, and how far it has come, once a minute at most', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  const proxy = await startProxy(t, () => server.port)
  goBy(two, proxy)
  const forget = () => server.query(
    "update sallyport.machines set seen = seen - interval '1 day', sequence = 0")
  const rows = async () => {
    const [here, there] = await one.json(['machine', 'list']) as
      readonly { readonly record: number, readonly seen_at: string }[]
    return { here, there }
  }
  const isRecent = (at: string | undefined): boolean =>
    Date.parse(at ?? '') > Date.now() - 3_600_000
  const last = async (): Promise<number> => Number((await server.query<{ n: string }>(
    'select max(sequence)::text as n from sallyport.records'))[0]?.n)
  const trips = async (): Promise<number> => {
    const before = proxy.trips()
    must(await askOn(two))
    return proxy.trips() - before
  }
  await forget()
  const { here, there } = await rows()
  t.equal(here?.record, await last())
  t.ok(isRecent(here?.seen_at), 'of itself it is told as of now')
  t.notOk(isRecent(there?.seen_at), 'nobody says it for another one')
  must(await two.run(['goal', 'add', 'b was here']))
  t.equal((await rows()).there?.record, await last())
  t.ok(isRecent((await rows()).there?.seen_at))
  const noted = await trips()
  t.ok((await rows()).there?.record !== await last(), 'within the minute nothing is asked for it')
  await forget()
  const anew = await trips()
  t.equal((await rows()).there?.record, await last())
  t.comment(`trips of an ask: ${noted}, and ${anew} with the note`)
  t.ok(anew - noted <= 2, 'a trip behind the answer, whatever else comes together or apart')
})

/** What a server that was put back has lost beside records: joinings, retirements, stored files. */
import t, { type Test } from 'tap'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres, type Postgres } from '../../support/place/postgres.js'

const accept = ['state', 'accept-server', '--yes']
const behind = { code: 'server_changed', reason: 'behind' }

const twoMachines = async (t: Test) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await one.run(['goal', 'add', 'seen']))
  return { server, one, two, known: await lastAt(server) }
}

const lastAt = async (server: Postgres): Promise<number> => (await server.query<{ last: number }>(
  'select max(sequence)::int as last from sallyport.records'))[0]?.last ?? 0

const loseFrom = (server: Postgres, known: number): Promise<unknown> =>
  server.query(`delete from sallyport.records where sequence > ${known}`)

t.test('a machine whose joining was lost stops everything for all, and gives its records back', async (t) => {
  const { server, one, two, known } = await twoMachines(t)
  must(await askOn(two))
  await loseFrom(server, known)
  await server.query("delete from sallyport.machines where name = 'b'")
  const sent = one.inferences().length
  t.hasStrict((await askOn(two)).error(), behind)
  t.not((await one.ask()).status, 0, 'it is stopped for the others')
  t.equal(one.inferences().length, sent)
  t.hasStrict(failure(await two.run([...accept, '--json'])), { code: 'machines_to_ask' })
  t.hasStrict(await one.json(accept), { accepted: false })
  t.hasStrict(await two.json(accept), { accepted: true })
  t.hasStrict(await one.json(['machine', 'list']), [{ name: 'a' }, { name: 'b' }])
  t.strictSame(await one.json(['ledger', 'show']), await two.json(['ledger', 'show']))
})

t.test('a machine whose joining alone was lost goes on', async (t) => {
  const { server, two } = await twoMachines(t)
  await server.query("delete from sallyport.machines where name = 'b'")
  must(await askOn(two))
  t.equal((await two.json(['machine', 'list'])).length, 2)
})

for (const run of ['the same', 'another'] as const) {
  t.test(`a machine that was retired stays so where a server of ${run} run had lost that`, async (t) => {
    const { server, one, two } = await twoMachines(t)
    const known = await lastAt(server)
    must(await one.run(['machine', 'retire', 'b', '--yes']))
    await loseFrom(server, known)
    await server.query("update sallyport.machines set retired = null where name = 'b'")
    if (run === 'another') await server.query("update sallyport.stores set run = 'x'")
    const sent = one.inferences().length
    t.hasStrict((await one.run(['goal', 'add', 'x', '--json'])).error(), { code: 'server_changed' })
    if (run === 'the same') {
      t.hasStrict((await askOn(two)).error(), { code: 'machine_retired' }, 'from the first look')
    }
    t.hasStrict(await one.json(accept), { accepted: true }, 'it is not asked')
    t.hasStrict((await askOn(two)).error(), { code: 'machine_retired' })
    t.equal(one.inferences().length, sent)
    t.type((await one.json(['machine', 'list']))[1].retired_at, 'string')
  })
}

t.test('stored files that records name are given back with them', async (t) => {
  const { server, one, two, known } = await twoMachines(t)
  must(await askOn(two))
  const there = async (): Promise<unknown> =>
    server.query('select name from sallyport.blob_names order by name')
  const before = await there()
  await loseFrom(server, known)
  await server.query('delete from sallyport.blob_names')
  await server.query('delete from sallyport.blobs')
  t.hasStrict((await two.run(['goal', 'add', 'x', '--json'])).error(), behind)
  must(await one.run(accept))
  t.hasStrict(await two.json(accept), { accepted: true })
  t.strictSame(await there(), before)
  must(await one.run(accept))
  t.equal((await one.json(['state', 'check'])).ok, true)
})

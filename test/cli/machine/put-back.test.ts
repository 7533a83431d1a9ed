/** A server that was put back to an older copy, and a replica of which nothing is left. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { must } from '../../support/must.js'
import { askOn, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { World, type Placed } from '../../world/world.js'

/** Records of the second machine that the server loses. */
const lost = 4

const sequenceAt = async (server: Awaited<ReturnType<typeof startPostgres>>): Promise<number> => {
  const [row] = await server.query<{ last: number }>(
    'select max(sequence)::int as last from sallyport.records')
  return row?.last ?? 0
}

/** Two machines of a shared directory, and a server that lost what the second one wrote. */
const putBack = async (t: Test) => {
  const server = await startPostgres(t)
  const one = await World.in(t).sandbox().state().session().alpha()
  must(await one.run(['state', 'share', server.url, '--machine-name', 'a', '--yes']))
  const two = await nextMachine(t, one)
  must(await one.run(['goal', 'add', 'seen']))
  const known = await sequenceAt(server)
  must(await askOn(two))
  const last = await sequenceAt(server)
  t.ok(last - known >= lost, 'the first machine has not seen what is lost')
  await server.query(`create table kept as
    select * from sallyport.records where sequence > ${last - lost}`)
  await server.query(`delete from sallyport.records where sequence > ${last - lost}`)
  return { server, one, two, last }
}

const empty = ({ place }: Placed): void => {
  for (const folder of ['wal', 'collections']) {
    const dir = join(place.stateDir, folder)
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true })
  }
}

t.test('a replica of which nothing is left notices by its anchor that the server lost records', async (t) => {
  const { server, two } = await putBack(t)
  empty(two)
  const refused = await two.run(['state', 'repair', '--json'])
  t.hasStrict(refused.error(), { code: 'server_changed', reason: 'behind' })
  await server.query('insert into sallyport.records select * from kept')
  t.hasStrict(must(await two.run(['state', 'repair', '--json'])).json(), {
    loss: { records_after: null, documents: 0 }, left: [],
  })
  t.equal((await two.json(['state', 'check'])).ok, true)
  must(await askOn(two))
})

for (const more of [0, 1]) {
  t.test(`a machine notices that others wrote in the place of its records, and ${more} more`, async (t) => {
    const { server, one, two, last } = await putBack(t)
    while (await sequenceAt(server) < last + more) must(await one.run(['goal', 'add', 'instead']))
    const sent = one.inferences().length
    const told = { code: 'server_changed', reason: 'other_history' }
    t.match((await two.run(['doctor'])).stdout, /problem +records: server_changed/)
    t.hasStrict((await two.run(['machine', 'list', '--json'])).error(), told)
    t.hasStrict((await askOn(two)).error(), told)
    t.not((await one.ask()).status, 0, 'it is stopped for the machine that went on, too')
    t.hasStrict((await one.run(['goal', 'add', 'no', '--json'])).error(),
      { code: 'server_changed', reason: 'behind' })
    t.hasStrict((await two.run(['state', 'accept-server', '--yes', '--json'])).error(), told)
    t.equal(one.inferences().length, sent)
    t.hasStrict(await one.json(['state', 'accept-server', '--without', 'b', '--yes']),
      { accepted: true, without: ['b'] })
    must(await one.run(['login']))
    must(await one.run(['goal', 'add', 'on']))
    t.hasStrict((await askOn(two)).error(), { code: 'machine_retired' })
  })
}

t.test('a machine that finds its records again where others had gone on ends what it had stopped', async (t) => {
  const { server, one, two, last } = await putBack(t)
  await server.query('create table newest as select * from sallyport.records')
  await server.query('insert into newest select * from kept')
  while (await sequenceAt(server) < last) must(await one.run(['goal', 'add', 'instead']))
  t.hasStrict((await askOn(two)).error(), { code: 'server_changed', reason: 'other_history' })
  await server.query('delete from sallyport.records')
  await server.query('insert into sallyport.records select * from newest')
  must(await two.run(['goal', 'add', 'on']))
  t.equal((await two.json(['policy', 'show'])).policy.state, 'revoked')
  t.hasStrict((await one.run(['goal', 'add', 'no', '--json'])).error(), {
    code: 'server_changed', reason: 'other_history',
  }, 'the one that went on alone is told')
})

t.test('a replica that is fetched anew notices that others went on without what it had seen', async (t) => {
  const { server, one, two, last } = await putBack(t)
  while (await sequenceAt(server) < last) must(await one.run(['goal', 'add', 'instead']))
  empty(two)
  await two.run(['state', 'repair'])
  const sent = one.inferences().length
  const refused = await askOn(two)
  t.hasStrict(refused.error(), { code: 'store_behind_anchor', details: { anchor: 'behind' } })
  t.match(refused.error().hint, /newest copy of the server/)
  t.not((await one.ask()).status, 0, 'it is stopped for the machine that went on, too')
  t.equal(one.inferences().length, sent)
  const accepted = await one.json(['state', 'accept-server', '--without', 'b', '--yes'])
  t.hasStrict(accepted, { accepted: true, without: ['b'] })
  must(await one.run(['login']))
  must(await one.run(['goal', 'add', 'on']))
})

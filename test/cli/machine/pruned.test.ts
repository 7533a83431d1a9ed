/** A prune of a shared state: what it removes at the server, and what it tells of the rest. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { World, type Placed } from '../../world/world.js'
import { must } from '../../support/must.js'
import { firstMachine, joined, nextMachine } from '../../support/place/machines.js'
import { movingServer } from '../../support/place/moving-server.js'

const day = 86_400_000
const prune = ['state', 'prune', '--older-than', '1d', '--yes']

const filesOf = ({ place }: Pick<Placed, 'place'>): readonly string[] =>
  readdirSync(join(place.stateDir, 'artifacts'), { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? entry.name : [])).sort()

t.test('sealed files that the server did not remove are told, and the next prune removes them there', async (t) => {
  const server = await movingServer(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  const { task: { id } } = must(await one.ask()).json()
  must(await one.run(['alpha', 'review', id, '--approve']))
  must(await two.run(['goal', 'add', 'b has followed']))
  const named = async () => (await server.query<{ name: string }>(
    'select name from sallyport.blob_names order by name')).map(({ name }) => name)
  t.strictSame(await named(), filesOf(one))
  await server.pass(3 * day)
  must(await one.run(['login', '--replace']))
  await server.query(`create function public.no() returns trigger language plpgsql as
    $$ begin raise exception 'no'; end $$`)
  await server.query(`create trigger no before delete on sallyport.blob_names
    for each row execute function public.no()`)
  const before = await named()
  const refused = await one.run([...prune, '--json'])
  t.equal(refused.error().code, 'files_left_at_place')
  const left = before.length - filesOf(one).length
  t.ok(left > 0)
  t.hasStrict(refused.json(), { left_at_place: { files: left }, behind: ['b'] })
  t.strictSame(await named(), before)
  await server.query('drop trigger no on sallyport.blob_names')
  const again = must(await one.run([...prune, '--json'])).json()
  t.hasStrict(again, { left_at_place: null, swept: left, behind: [] })
  t.strictSame(await named(), filesOf(one), 'what rows name stays')
  t.strictSame(filesOf(await joined(t, one, 'c')), filesOf(one), 'a new machine gets none of it')
  await server.pass(3 * day)
  must(await one.run(['login']))
  t.match(must(await one.run(prune)).stdout,
    'Until their next command these may still show it: b, c. ')
  must(await two.run(['login']))
  t.hasStrict(await two.json(['state', 'check']), { ok: true })
})

t.test('what a shared directory began with stays at the server: a machine joins behind a prune of what is old', async (t) => {
  const server = await movingServer(t)
  const one = await World.in(t).sandbox().state().session().alpha()
  must(await one.run(['state', 'share', server.url, '--machine-name', 'one', '--yes']))
  await server.pass(3 * day)
  await server.query(`insert into sallyport.blob_names (store, name, attempt, pieces)
    select store, repeat('0', 64), attempt, 0 from sallyport.blob_names limit 1`)
  await server.pass(3 * day)
  must(await one.run(['login', '--replace']))
  t.hasStrict(must(await one.run([...prune, '--json'])).json(), { left_at_place: null, swept: 1 })
  t.hasStrict(await (await nextMachine(t, one)).json(['state', 'check']), { ok: true })
})

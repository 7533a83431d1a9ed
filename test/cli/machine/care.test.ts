/** What looks after a state, where it is one that several machines share. */
import { cpSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { failure, must } from '../../support/must.js'
import { startPostgres } from '../../support/place/postgres.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const done = [
  'state check', 'state compact', 'state export --jsonl', 'state kept', 'state keys',
  'state prune --older-than 30d --yes', 'audit list', 'timers show', 'edge list',
  'policy history', 'shots status', 'state repair', 'machine list', 'state backup other',
  'state verify other', 'status',
]

/** One replica of several is not put back or removed by itself. */
const refused = ['state restore kept --yes', 'state destroy --acknowledged-destroy state']

t.test('what looks after a state works over a replica; none is put back or removed by itself', async (t) => {
  const server = await startPostgres(t)
  const at = await World.in(t).state({ owner: 'ada' }).session()
  must(await at.run(['state', 'backup', 'kept']))
  must(await at.run(['state', 'share', server.url, '--machine-name', 'one', '--yes']))
  const told: Record<string, string> = {}
  for (const line of [...done, ...refused]) {
    const ran = await at.run([...line.split(' '), '--json'])
    told[line] = ran.status === 0 ? 'done' : `${ran.status} ${ran.error().code}`
  }
  t.strictSame(told, Object.fromEntries([
    ...done.map((line) => [line, 'done']),
    ...refused.map((line) => [line, '3 state_elsewhere']),
  ]))
  const destroy = await at.run(['state', 'destroy', '--acknowledged-destroy', 'state', '--json'])
  t.match(destroy.error().hint, /`sallyport machine retire NAME`/, 'another machine does it')
  t.hasStrict((await at.json(['status'])).shared, { machine: 'one' })
})

t.test('a lost STATE of the machine that shared a state is rebuilt as that of a replica, which has no ledger of its own', async (t) => {
  const server = await startPostgres(t)
  const at = await World.in(t).state({ owner: 'ada' }).session()
  must(await at.run(['state', 'share', server.url, '--machine-name', 'one', '--yes']))
  must(await at.run(['goal', 'add', 'Read']))
  const path = join(at.place.stateDir, 'STATE')
  const before = readFileSync(path)
  rmSync(path)
  const { done } = await at.json(['state', 'repair'])
  t.ok(done.some(({ code }: { code: string }) => code === 'state_file_rebuilt'))
  t.match(before.toString(), '"kept_in":"place"')
  t.ok(readFileSync(path).equals(before))
  must(await at.run(['goal', 'add', 'Write']))
  t.hasStrict((await at.json(['status'])).shared, { machine: 'one' })
})

t.test('a lost STATE of a state that was taken back is rebuilt as that of a directory', async (t) => {
  const server = await startPostgres(t)
  const at = await World.in(t)
  must(await at.run(['init', '--shared', server.url, '--machine-name', 'one']))
  must(await at.run(['login']))
  must(await at.run(['goal', 'add', 'Read']))
  must(await at.run(['state', 'unshare', '--yes']))
  const path = join(at.place.stateDir, 'STATE')
  const before = readFileSync(path)
  rmSync(path)
  must(await at.run(['state', 'repair']))
  t.ok(readFileSync(path).equals(before))
  must(await at.run(['goal', 'add', 'Write']))
  t.notOk('shared' in (await at.json(['status'])))
})

t.test('a state whose sharing came to nothing is a directory still: repaired, put back and stopped as one', async (t) => {
  const at = await World.in(t).state({ owner: 'ada' }).session()
  must(await at.run(['state', 'backup', 'kept']))
  const share = ['state', 'share', 'postgres://ops@127.0.0.1:1/none', '--yes', '--json']
  t.hasStrict(failure(await at.run(share)), { code: 'place_unreachable' })
  rmSync(join(at.place.stateDir, 'STATE'))
  must(await at.run(['policy', 'revoke']))
  must(await at.run(['state', 'repair']))
  must(await at.run(['goal', 'add', 'Read']))
  t.notOk('shared' in (await at.json(['status'])))
  rmSync(at.place.stateDir, { recursive: true })
  must(await at.run(['state', 'restore', 'kept', '--yes']))
  must(await at.run(['login']))
  must(await at.run(['goal', 'add', 'Write']))
})

t.test('where the server is gone for good, the backup of a replica is put back as a directory', async (t) => {
  const server = await startPostgres(t)
  const at = await World.in(t)
  must(await at.run(['init', '--shared', server.url, '--machine-name', 'one']))
  must(await at.run(['login']))
  must(await at.run(['goal', 'add', 'Read']))
  must(await at.run(['state', 'backup', 'kept']))
  await server.stop()
  const restore = ['state', 'restore', 'kept', '--yes']
  t.hasStrict(failure(await at.run([...restore, '--json'])), { status: 3, code: 'state_elsewhere' })
  const keys = join(at.place.configDir, 'keys')
  const [file = ''] = readdirSync(keys).filter((name) => name.endsWith('.place'))
  renameSync(join(keys, file), at.place.path('moved.place'))
  must(await at.run(restore))
  t.notOk('shared' in (await at.json(['status'])))
  must(await at.run(['login']))
  const titles = (await at.json(['goal', 'list'])).map(({ title }: { title: string }) => title)
  t.ok(titles.includes('Read'))
  must(await at.run(['goal', 'add', 'Write']))
})

t.test('a machine that lost its directory alone is told the way to a replica, and has everything again', async (t) => {
  const server = await startPostgres(t)
  const at = await World.in(t).state({ owner: 'ada' }).session()
  must(await at.run(['state', 'backup', 'of-a-directory']))
  must(await at.run(['state', 'share', server.url, '--machine-name', 'one', '--yes']))
  must(await at.run(['goal', 'add', 'Read']))
  must(await at.run(['state', 'backup', 'of-a-replica']))
  must(await at.run(['goal', 'add', 'Write']))
  rmSync(at.place.stateDir, { recursive: true })
  const told = async (backup: string): Promise<string> => {
    const ran = await at.run(['state', 'restore', backup, '--yes', '--json'])
    t.hasStrict(failure(ran), { status: 3, code: 'state_elsewhere' })
    return ran.error().hint ?? ''
  }
  t.match(await told('of-a-directory'), /^The backup was made before .*machine invite NAME --to FILE/)
  t.match(await told('of-a-replica'), /^If this machine made the backup, copy .*state path/)
  const { state_dir: to } = await at.json(['state', 'path'])
  cpSync(at.place.path('of-a-replica/state'), to, { recursive: true })
  must(await at.run(['login']))
  const titles = (await at.json(['goal', 'list'])).map(({ title }: { title: string }) => title)
  t.strictSame(['Read', 'Write'].filter((title) => !titles.includes(title)), [])
  t.equal((await at.json(['state', 'check'])).ok, true)
  t.hasStrict(await at.json(['status']), { shared: { machine: 'one' } })
})

t.test('a replica that lost its anchor writes no record of its own when it is repaired', async (t) => {
  const server = await startPostgres(t)
  const at = await World.in(t).state({ owner: 'ada' }).session()
  must(await at.run(['state', 'backup', 'kept']))
  must(await at.run(['state', 'restore', 'kept', '--yes']))
  must(await at.run(['login']))
  must(await at.run(['state', 'share', server.url, '--machine-name', 'one', '--yes']))
  must(await at.run(['goal', 'add', 'Read']))
  const keys = join(at.place.configDir, 'keys')
  const anchors = readdirSync(keys).filter((name) => name.includes('anchor'))
  t.equal(anchors.length, 1)
  for (const name of anchors) rmSync(join(keys, name))
  must(await at.run(['state', 'repair']))
  t.equal((await at.run(['goal', 'add', 'Write'])).status, 7, 'it is still missing')
  t.strictSame(await server.query('select id from sallyport.stops'), [], 'nobody was stopped')
})

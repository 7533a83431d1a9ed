/** A state that was taken back from its server, where that was cut off behind the server's part. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import type { Placed } from '../../world/world.js'

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

/** Stored files of a machine. */
const storedOf = ({ place: { stateDir } }: Placed): readonly string[] => {
  const folder = join(stateDir, 'artifacts')
  return readdirSync(folder, { recursive: true }).map(String).sort()
    .filter((name) => /[0-9a-f]{64}$/.test(name)).map((name) => join(folder, name))
}

t.test('what is missing or damaged here of stored files comes here before the server gives nothing more', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  must(await one.ask())
  must(await one.ask())
  const stored = storedOf(one)
  const [gone = '', spoilt = ''] = stored
  const kept = stored.map((path) => readFileSync(path))
  rmSync(gone)
  writeFileSync(spoilt, 'other bytes')
  const name = basename(gone)
  const there = await server.query('select from sallyport.blob_names where name = $1', [name])
  t.equal(there.length, 1, 'the server has it')
  await server.query(`update sallyport.blobs set body = 'other' where name = $1`, [name])
  t.hasStrict(failure(await one.run(['state', 'unshare', '--yes', '--json'])),
    { status: 12, code: 'artifact_damaged' })
  t.hasStrict((await one.json(['status'])).shared, { machine: 'a' }, 'it is shared still')
  await server.query('update sallyport.blobs set body = $2 where name = $1', [name, kept[0]])
  must(await one.run(['state', 'unshare', '--yes']))
  t.strictSame(stored.map((path) => readFileSync(path)), kept)
  t.equal((await one.json(['state', 'check'])).ok, true)
})

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

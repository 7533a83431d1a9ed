/**
 * Where the kernel locks whole files alone and there is no /proc, as on a Mac, everything works
 * that works elsewhere. The locks are flock(2) there, of which bytes of a file are EINVAL.
 */
import { once } from 'node:events'
import { renameSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after } from '../support/observations.js'
import { started } from '../support/service/process.js'
import { distinctImage as image } from '../support/soak/kill-scans.js'
import { t } from '../support/tests-in-slices.js'
import type { Place, Ran, SpawnOptions } from '../world/place.js'
import { question } from '../world/alpha.js'
import { World } from '../world/world.js'

const preloaded = ['--require', join(process.cwd(), 'test/support/darwin.cjs')]

const there = (place: Place, argv: readonly string[], options: SpawnOptions = {}): Promise<Ran> =>
  place.spawn(argv, { ...options, nodeArgs: preloaded })

t.test('with locks of whole files alone and no /proc a state is made, written, asked from and backed up', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const ran = async (argv: readonly string[], options?: SpawnOptions): Promise<Ran> => {
    const one = await there(world.place, argv, options)
    t.equal(one.status, 0, `${argv.join(' ')}: ${one.stderr}`)
    return one
  }
  await ran(['goal', 'add', 'Water the plants.'])
  const asked = await ran(['alpha', 'ask', '-', '--json'], { stdin: question })
  const { task, answer } = asked.json()
  t.equal((await ran(['alpha', 'output', task.id, '--json'])).json().answer, answer)
  const env = { KEEP_PLATFORM: 'yes' }
  await ran(['alpha', 'ask', '-', '--json'], { stdin: 'On Linux without /proc?', env })
  await ran(['status'])
  await ran(['state', 'backup', world.place.path('backup')])
  await ran(['state', 'compact'])
  await ran(['logout'])
  await ran(['policy', 'revoke'])
  await ran(['state', 'check'])
  t.equal((await world.run(['state', 'check', '--json'])).status, 0, 'here it reads the same')
})

t.test('with locks of whole files alone and no /proc a folder of images is scanned', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 3; i += 1) world.file(`${i}.png`, image(i * 9), after(i * 2_000_000))
  const scanned = await there(world.place, ['shots', 'scan', '--json'])
  t.equal(scanned.status, 0, scanned.stderr)
  t.equal(scanned.json().ingested, 3)
})

t.test('with locks of whole files alone twelve processes at once stand in line and write each its record', async (t) => {
  const { place, run } = await World.in(t).state().session()
  const added = await Promise.all(Array.from({ length: 12 }, (_, i) =>
    there(place, ['goal', 'add', `Goal ${i}.`, '--wait', '60'], { coverage: false })))
  for (const one of added) t.equal(one.status, 0, one.stderr)
  const goals = (await run(['goal', 'list', '--json'])).json<readonly { title: string }[]>()
  t.equal(goals.filter(({ title }) => title.startsWith('Goal ')).length, 12)
})

t.test('with locks of whole files alone and no /proc the service answers, beside a command, and a device is paired', async (t) => {
  const { place } = await World.in(t).state().session()
  const service = await started(t, place, [], {}, preloaded)
  t.equal(service.status(), null, service.err())
  t.equal((await service.ask('GET', '/api/status')).status, 200)
  for (const argv of [['goal', 'add', 'Water the plants.'], ['edge', 'pair', '--file', 'code']]) {
    const ran = await there(place, argv)
    t.equal(ran.status, 0, ran.stderr)
  }
  service.child.kill('SIGTERM')
  t.equal(await service.ended, 0)
})

/** Names that a Mac gives its screenshots, and one that people give. */
const shotName = 'Screenshot 2026-11-23 at 14.03.22\u202fPM.png'
const [composed, decomposed] = ['Caf\u00e9.png', 'Cafe\u0301.png']

t.test('where letter case and Unicode form do not tell two names apart an image is taken once, under the name that it has', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file(shotName, image(1), after(0))
  world.file(decomposed, image(9), after(2_000_000))
  const scan = async (): Promise<number> => {
    const ran = await there(world.place, ['shots', 'scan', '--json'])
    t.equal(ran.status, 0, ran.stderr)
    return ran.json().ingested
  }
  t.equal(await scan(), 2)
  t.equal(await scan(), 0, 'nothing is new')
  // As the disk of a Mac does it: the file keeps its bytes under the letters of its new name.
  renameSync(join(world.folder, decomposed), join(world.folder, composed.toUpperCase()))
  t.equal(await scan(), 0, 'other letters are no other image')
  const names = world.rows().flatMap(({ paths }) => paths.map(({ name }) => name.text))
  t.ok(names.includes(shotName))
  t.equal(world.rows().length, 2)
})

t.test('where letter case does not count a state and its keys are reached by any, and keys within the state are refused by any', async (t) => {
  const { place } = await World.in(t).state().session()
  const loud = place.stateDir.replace(/[^/]+$/, (name) => name.toUpperCase())
  t.not(loud, place.stateDir)
  const listed = await there(place, ['goal', 'list', '--state-dir', loud, '--json'])
  t.equal(listed.status, 0, listed.stderr)
  const inside = await there(place, [
    'init', '--owner', 'ada', '--state-dir', place.path('new'), '--config-dir',
    place.path('NEW/keys'), '--json',
  ])
  t.strictSame([inside.status, inside.error().code], [3, 'keys_inside_state'])
  const apart = await place.spawn([
    'state', 'path', '--state-dir', place.path('new'), '--config-dir', place.path('NEW/keys'),
  ])
  t.equal(apart.status, 0, 'here they are two folders')
})

t.test('a socket and a link in the place of a file are told as such by the word that a Mac has', async (t) => {
  const { place } = await World.in(t).state().session()
  const server = createServer().listen(place.path('socket.png'))
  t.teardown(() => void server.close())
  await once(server, 'listening')
  const told = async (file: string): Promise<unknown> =>
    (await there(place, ['edge', 'capture', file, '--json'])).error().code
  t.equal(await told('socket.png'), 'capture_not_a_file')
  symlinkSync('socket.png', place.path('link.png'))
  t.equal(await told('link.png'), 'capture_not_a_file')
})

/**
 * Where the kernel locks whole files alone and there is no /proc, as on a Mac, everything works
 * that works elsewhere. The locks are flock(2) there, of which bytes of a file are EINVAL.
 */
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

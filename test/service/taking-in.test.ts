/** What devices send is seen behind the reply: no device waits for it, and nothing is lost. */
import { serving } from '../support/service/serving.js'
import { captured } from '../support/edge/captured.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'
import { HeldStore } from '../../src/service/held-store.js'
import { TakingIn } from '../../src/service/taking-in.js'
import { World } from '../world/world.js'

t.test('S-029 S-043 what a device uploads becomes an observation behind its reply, and nobody is contacted', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway().images()
  // No house is kept meanwhile: the upload itself has it taken in.
  const at = await serving(t, world, { houseMs: 3_600_000 })
  const before = world.sandbox.log.all().length
  const { credential } = await pairOver(world, at)
  for (const n of [1, 2]) {
    const body = image(n)
    t.equal((await sendOver(at, credential, body, headOf(body, n))).status, 201)
  }
  await until('both are observed', () => captured(world).length === 2)
  t.equal(world.sandbox.log.all().length, before)
  await at.stop()
  must(await world.run(['state', 'check', '--json']))
})

t.test('who asks while captures are taken in has one more look made, and a stop ends between two', async (t) => {
  const world = await World.in(t).state().session().images()
  const held = new HeldStore({
    stateDir: world.place.stateDir, configDir: world.place.configDir, clock: world.clock,
  })
  t.teardown(() => held.close())
  const looks: number[] = []
  const deps = { clock: world.clock } as ConstructorParameters<typeof TakingIn>[1]
  const taking: TakingIn = new TakingIn(held, deps, async () => {
    looks.push(looks.length)
    if (looks.length === 1) void taking.again()
    return { left: looks.length === 2 ? 5 : 0 }
  })
  await taking.again()
  t.equal(looks.length, 3, 'asked meanwhile, and once more for what was left')
  await taking.again()
  t.equal(looks.length, 4)
  taking.stop()
  await taking.again()
  t.equal(looks.length, 4)
  await new TakingIn(held, deps, undefined).again()
  const fails = new TakingIn(held, deps, () => Promise.reject(new Error('no disk')))
  await t.rejects(fails.again(), { message: 'no disk' })
  await t.rejects(fails.again(), { message: 'no disk' }, 'and is tried again')
})

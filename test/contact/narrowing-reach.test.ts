/** Whom a command reaches that closes something: also what rests on it without naming it. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { defaultFolder } from '../../src/shots/constants.js'
import { newestTask } from '../support/board.js'
import { must } from '../support/must.js'
import { chargeOf, largeImage, leavingPicture } from '../support/narrowing.js'
import { holdWrites } from '../support/net/held-writes.js'
import { rowOf, sent, set } from '../support/shots.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import { slotFlags } from '../world/gateway.js'
import { World, type AnalysisWorld, type GatewayWorld, type Placed } from '../world/world.js'

/** A picture that nobody has seen, at a path of its own. */
const picture = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, largeImage())
  const modified = new Date('2026-11-20T10:00:00.000Z')
  utimesSync(path, modified, modified)
}

/** Some pieces of the picture have left when the command comes; the rest waits for its answer. */
const cutOff = async (
  t: Test, world: AnalysisWorld, name: string, close: readonly string[], env = {}, closing = env,
): Promise<void> => {
  must(await world.run(['shots', 'scan', '--json'], { env }))
  const writes = holdWrites(t, () => writes.left.length < 3)
  const analyzing = world.run(['shots', 'analyze', '--json'], { env })
  await until('the fourth piece waits', () => writes.begun() > 3)
  const closed = must(await world.run([...close], { env: closing }))
  const answeredMs = performance.now()
  writes.go()
  await analyzing
  t.strictSame(writes.left.filter(({ atMs }) => atMs > answeredMs), [], 'nothing left after it')
  const { analyzer: { operation_id: operation, contact } } = rowOf(world, name)
  t.strictSame(closed.json().requests,
    [{ operation_id: operation, task_id: null, sent: 'partly' }])
  t.strictSame([contact, chargeOf(world, name), sent(world)], ['uncertain', 'unknown', 0])
}

t.test('S-021 S-053 the default folder is one: its pictures stop when another is chosen', async (t) => {
  const world = await leavingPicture(t)
  await set(world, '--unset', 'screenshot_folder')
  picture(join(world.workspace, defaultFolder, 'a.png'))
  mkdirSync(world.place.path('elsewhere'))
  await cutOff(t, world, 'a.png', [
    'shots', 'config', 'set', '--json', '--folder', world.place.path('elsewhere'),
  ])
})

t.test('S-021 S-051 another saved folder stops pictures of the one before, also where it is saved under a variable', async (t) => {
  const world = await leavingPicture(t)
  picture(join(world.folder, 'a.png'))
  for (const name of ['elsewhere', 'named']) mkdirSync(world.place.path(name))
  await cutOff(t, world, 'a.png', [
    'shots', 'config', 'set', '--json', '--folder', world.place.path('elsewhere'),
  ], {}, { SVC_SCREENSHOT_FOLDER: world.place.path('named') })
})

t.test('S-021 S-051 recursive off stops what lies below the folder that the environment names', async (t) => {
  const world = await leavingPicture(t)
  await set(world, '--unset', 'screenshot_folder', '--recursive', 'on')
  const named = world.place.path('named')
  picture(join(named, 'below', 'a.png'))
  await cutOff(t, world, 'below/a.png', [
    'shots', 'config', 'set', '--json', '--recursive', 'off',
  ], {
    SVC_SCREENSHOT_FOLDER: named,
  })
})

t.test('S-021 S-051 another saved folder lets go on what is of the folder that the environment names', async (t) => {
  const world = await leavingPicture(t)
  const named = world.place.path('named')
  const env = { SVC_SCREENSHOT_FOLDER: named }
  picture(join(named, 'a.png'))
  mkdirSync(world.place.path('elsewhere'))
  must(await world.run(['shots', 'scan', '--json'], { env }))
  const writes = holdWrites(t, () => writes.left.length < 3)
  const analyzing = world.run(['shots', 'analyze', '--json'], { env })
  await until('the fourth piece waits', () => writes.begun() > 3)
  const saved = await set(world, '--folder', world.place.path('elsewhere'))
  t.strictSame(saved.json().requests, [])
  writes.go()
  t.hasStrict(must(await analyzing).json(), { analyzed: 1 })
})

/** Another owner, logged in in the place of the first one. */
const asOther = async (world: Placed): Promise<void> => {
  const secret = ['--passphrase-file', world.place.write('passphrase', 'another person')]
  must(await world.run(['principal', 'add', 'other', ...secret]))
  must(await world.run(['login', '--replace', '--owner', 'other', ...secret]))
}

t.test('A-156 a question of another owner stops when whoever gave its consent is disabled', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  await asOther(rig)
  must(await rig.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
  const writes = holdWrites(t)
  const asking = rig.ask()
  await until('the request waits to be written', () => writes.begun() > 0)
  must(await rig.run(['principal', 'disable', 'owner', '--yes', '--json']))
  writes.go()
  t.not((await asking).status, 0)
  t.strictSame(writes.left, [])
  t.equal(rig.inferences().length, 0, 'no byte came to the provider')
  t.equal(findReservation(rig.view(), newestTask(rig).operation_id)?.state, 'unknown')
})

/** A slot whose purpose, or whose egress alone, the first owner consented to; another proves it. */
const provable: Readonly<Record<string, (t: Test) => Promise<GatewayWorld>>> = {
  'both of its consents': async (t) => {
    const world = await World.in(t).sandbox().state().session().gateway({ slots: ['report'] })
    await asOther(world)
    return world
  },
  'the acknowledgment of cloud egress alone': async (t) => {
    const world = await World.in(t).sandbox().state().session().gateway({ slots: [] })
    must(await world.widen([...slotFlags('report', 'gateway.digest'), '--api-key-file',
      world.place.path('gateway-key'), '--spend-ceiling', '1.00usd']))
    await asOther(world)
    must(await world.widen(['--consent', 'gateway.report']))
    return world
  },
}

for (const [gives, make] of Object.entries(provable)) {
  t.test(`A-156 a proof of another owner stops when whoever gave ${gives} is disabled`, async (t) => {
    const world = await make(t)
    const writes = holdWrites(t)
    const proving = world.prove('report')
    await until('the request waits to be written', () => writes.begun() > 0)
    must(await world.run(['principal', 'disable', 'owner', '--yes', '--json']))
    writes.go()
    t.not((await proving).status, 0)
    t.strictSame([writes.left, world.calls().length], [[], 0])
  })
}

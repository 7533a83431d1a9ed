/** Who is named, under what, and what is refused. */
import { offeredDevices } from '../../../src/shots/captures/naming.js'
import { carryShotGates } from '../../../src/shots/source/carried-gates.js'
import { saveShotsConfig } from '../../../src/shots/source/config.js'
import {
  savedSettings, settingsCollection, settingsId,
} from '../../../src/shots/source/settings.js'
import { cameraOf } from '../../support/edge/captured.js'
import { bothEgress, nameDevices, openWorld, takenCapture } from '../../support/edge/naming.js'
import { must } from '../../support/must.js'
import { addAndSignIn } from '../../support/tasks.js'
import { t } from '../../support/tests-in-slices.js'
import { World, type AnalysisWorld } from '../../world/world.js'

const named = (world: Pick<AnalysisWorld, 'view'>) => savedSettings(world.view()).devices ?? null

const refused = async (world: Pick<AnalysisWorld, 'run'>, ...ids: string[]) =>
  (await world.run(['shots', 'setup', '--json', '--devices', ...ids])).error()

t.test('a device is named from its last upload on, keeps that number, and all means those that are paired now', async (t) => {
  const world = await openWorld(t)
  const one = await cameraOf(world, bothEgress)
  await takenCapture(world, one)
  t.equal(named(world), null, 'none by itself')
  await nameDevices(world, one.id)
  t.hasStrict(named(world), {
    owner: world.session().principal.principal_id, outlived: null,
    named: [{ device_id: one.id, above_sequence: 1 }],
  })
  await takenCapture(world, one)
  const two = await cameraOf(world, bothEgress)
  await cameraOf(world)
  const ended = await cameraOf(world, bothEgress)
  must(await world.run(['edge', 'revoke', ended.id]))
  await nameDevices(world, 'all')
  const rows = named(world)?.named.map(({ device_id: id, above_sequence: above }) => [id, above])
  t.strictSame(new Map(rows as [string, number][]), new Map([[one.id, 1], [two.id, 0]]))
  const shown = must(await world.run(['shots', 'show', '--json'])).json()
  t.strictSame(new Set(shown.settings.devices.value), new Set([one.id, two.id]))
  await nameDevices(world, two.id)
  t.strictSame(named(world)?.named.map(({ device_id: id }) => id), [two.id], 'instead of before')
  must(await world.run(['shots', 'setup', '--unset', 'devices']))
  t.equal(named(world), null)
})

t.test('what is no device of the owner that may be named is refused, and nothing is changed', async (t) => {
  const world = await openWorld(t)
  t.hasStrict(await refused(world, 'all'), { code: 'device_not_nameable', reason: 'none' })
  const [here, cloud, ended] = [
    await cameraOf(world), await cameraOf(world, { cloud_egress: true }),
    await cameraOf(world, bothEgress),
  ]
  const bob = await addAndSignIn(
    { gov: { ...world.gov, store: world.open('write') } }, world.session(), 'bob')
  const theirs = await cameraOf(world, bothEgress, bob.session)
  must(await world.run(['edge', 'revoke', ended.id]))
  for (const [id, reason] of [
    [here.id, 'egress_off'], [cloud.id, 'egress_off'], [ended.id, 'ended'],
    [theirs.id, 'unknown'], ['edge_dev_none', 'unknown'],
  ] as const) t.hasStrict(await refused(world, id), { code: 'device_not_nameable', reason })
  t.hasStrict(await refused(world, 'all', here.id), { code: 'flag_invalid' })
  t.equal(named(world), null)
})

t.test('without a consent to gateway.vision no device is named', async (t) => {
  const world = await World.in(t).state().session().images()
  const camera = await cameraOf(world, bothEgress)
  t.hasStrict(await refused(world, camera.id), { code: 'devices_need_consent' })
  t.equal(savedSettings(world.view()).devices ?? null, null)
})

t.test('whoever names a device is told what leaves then; whoever names none is told nothing', async (t) => {
  const world = await openWorld(t)
  const camera = await cameraOf(world, bothEgress)
  const text = /what it uploads from then on leaves this machine/
  t.match(must(await world.run(['shots', 'setup', '--devices', camera.id])).stderr, text)
  t.notMatch(must(await world.run(['shots', 'setup', '--devices', camera.id])).stderr, text)
  t.notMatch(must(await world.run(['shots', 'setup', '--devices', 'none'])).stderr, text)
})

t.test('A-070 devices that were named otherwise since are named no more in an old copy', async (t) => {
  const world = await openWorld(t)
  const [one, two] = [await cameraOf(world, bothEgress), await cameraOf(world, bothEgress)]
  await nameDevices(world, one.id, two.id)
  const old = world.view()
  const { gov: { store } } = world.ctx('write')
  const carried = async (devices: typeof old) => {
    await store.transact('test', (tx) => {
      tx.put(settingsCollection, settingsId, savedSettings(old))
      carryShotGates(tx, '2026-11-20T10:00:00.000Z', devices)
    })
    return named(world)
  }
  t.ok((await carried(old))?.named.length === 2, 'the same names stay')
  await nameDevices(world, one.id)
  t.equal(await carried(world.view()), null)
  store.close()
})

const renew = async (world: AnalysisWorld): Promise<void> => {
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen(['--consent', 'gateway.vision']))
}

t.test('S-185 a name of an ended consent is shown as saved and not as in force, and whoever gives it anew is told what leaves', async (t) => {
  const world = await openWorld(t)
  const camera = await cameraOf(world, bothEgress)
  await nameDevices(world, camera.id)
  await renew(world)
  const shown = must(await world.run(['shots', 'show', '--json'])).json()
  t.strictSame(shown.settings.devices, { value: [], saved: [camera.id], source: 'settings' })
  t.match(must(await world.run(['shots', 'show'])).stdout, /devices +none \(settings\)/)
  const text = /what it uploads from then on leaves this machine/
  t.match(must(await world.run(['shots', 'setup', '--devices', camera.id])).stderr, text)
  const again = must(await world.run(['shots', 'show', '--json'])).json()
  t.strictSame(again.settings.devices.value, [camera.id])
  must(await world.run(['edge', 'revoke', camera.id]))
  const ended = must(await world.run(['shots', 'show', '--json'])).json()
  t.strictSame(ended.settings.devices.value, [], 'nor one whose pairing ended')
})

const terminal = { stdin: true, stdout: true }
/** Answers to the form up to its questions about devices: everything stays. */
const keeps = ['', 'keep', 'keep', 'keep', 'leave it unset', false] as const

t.test('the form asks about each device that no name in force lets out, and opens none that it did not ask about', async (t) => {
  const world = await openWorld(t)
  const one = await cameraOf(world, bothEgress)
  await nameDevices(world, one.id)
  await renew(world)
  const two = await cameraOf(world, bothEgress)
  const asked = new RegExp(`\\(${one.id}\\)`)
  const ran = must(await world.run(['shots', 'setup', '--json'], {
    terminal, answers: [...keeps, false, true, true],
  }))
  t.match(ran.stderr, `devices: not set -> ${two.id}\n`, 'what was in force, and what will be')
  t.notMatch(ran.stderr.split('devices:')[1], asked)
  t.strictSame(named(world)?.named.map(({ device_id: id }) => id), [two.id])
  const both = must(await world.run(['shots', 'setup', '--json'], {
    terminal, answers: [...keeps, true, true],
  }))
  t.match(both.stderr, `devices: ${two.id} -> ${two.id}, ${one.id}\n`)
})

t.test('a form names no device under a consent that was given while it was filled in', async (t) => {
  const world = await openWorld(t)
  await cameraOf(world, bothEgress)
  const meanwhile = async (): Promise<boolean> => {
    await renew(world)
    return true
  }
  const late = await world.run(['shots', 'setup', '--json'], {
    terminal, answers: [...keeps, true, meanwhile],
  })
  t.strictSame([late.status, late.error().code], [5, 'settings_changed'])
  t.equal(named(world), null)
})

t.test('another owner names no device, and the names of the default owner stay until somebody takes them back', async (t) => {
  const world = await openWorld(t)
  const mine = await cameraOf(world, bothEgress)
  await nameDevices(world, mine.id)
  const { session } = await addAndSignIn(
    { gov: { ...world.gov, store: world.open('write') } }, world.session(), 'bob')
  const theirs = await cameraOf(world, bothEgress, session)
  const ctx = world.ctx('write')
  const save = (devices: readonly string[] | 'all') => saveShotsConfig(ctx, session, { devices })
  for (const devices of [[theirs.id], 'all', [mine.id]] as const) {
    await t.rejects(save(devices), { code: 'not_default_principal' })
  }
  t.strictSame(await offeredDevices(ctx, session), [], 'nor does a form ask about any')
  t.strictSame(named(world)?.named.map(({ device_id: id }) => id), [mine.id])
  await save([])
  t.equal(named(world), null, 'less may leave whoever says so')
  ctx.gov.store.close()
})

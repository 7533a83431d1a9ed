/** What stands blocked: for which of it a pass ends blocked, and for which a proof is paid. */
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { receiptCollections } from '../../src/shots/receipts/receipt-rows.js'
import { waitingImages } from '../../src/shots/waiting.js'
import { hour, movedClock, type StillClock } from '../support/clock.js'
import { cameraOf, captured, takeIn } from '../support/edge/captured.js'
import { bothEgress, namedCamera, takenCapture } from '../support/edge/naming.js'
import { must } from '../support/must.js'
import { observationOf } from '../support/observations.js'
import { analyze, nextImage, rowOf, set, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'

type Timed = AnalysisWorld & { readonly clock: StillClock }

/** All is open, and the proof of images is current until the clock is moved by a day. */
const provedWorld = async (test: Parameters<typeof World.in>[0]): Promise<Timed> => {
  const clock = movedClock()
  const world = await World.in(test, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  return { ...world, clock }
}

const aDayLater = async (world: Timed): Promise<void> => {
  world.clock.advance(25 * hour)
  must(await world.run(['login', '--json']))
}

const regrant = async (world: AnalysisWorld): Promise<void> => {
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen([
    '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision',
  ]))
}

const { analyzer } = observationOf('/x', 'x')

const blockedRow = (
  world: AnalysisWorld, name: string, reason: string, changes: Partial<Observation> = {},
): Observation => observationOf(world.folder, name, {
  observed_revision: 1_000, analyzer: { ...analyzer, reason }, ...changes,
})

/** Images that no proof lets go: each is blocked for a reason of its own. */
const keptOtherwise = (world: AnalysisWorld): Readonly<Record<string, Observation>> => ({
  unsettled: blockedRow(world, 'held.png', 'unsettled'),
  image_damaged: blockedRow(world, 'damaged.png', 'image_damaged'),
  recursive_off: blockedRow(world, 'sub/below.png', 'recursive_off'),
  before_consent: blockedRow(world, 'early.png', 'proof_stale', { observed_revision: 1 }),
})

const failedAs = (row: Observation): Observation =>
  ({ ...row, analysis_status: 'failed', analyzer: { ...analyzer, reason: 'timed_out' } })

const receipts = (world: AnalysisWorld): number =>
  world.view().all(receiptCollections.receipts)
    .filter(({ doc }) => doc.job === 'screenshot_folder_analysis').length

const once = (world: AnalysisWorld) => world.run(['shots', 'run', '--once', '--json'])

const statusesOf = async (world: AnalysisWorld): Promise<readonly number[]> =>
  [(await analyze(world)).status, (await once(world)).status]

t.test('S-152 S-153 a pass ends well behind a stale proof where no image waits for one, and tells why each stays', async (t) => {
  const world = await provedWorld(t)
  const kept = keptOtherwise(world)
  await world.put(...Object.values(kept))
  await aDayLater(world)
  const ran = must(await analyze(world)).json()
  t.hasStrict(ran, { status: 'ok', reason: null, blocked: 0, passed_over: 4 })
  t.strictSame(new Set(ran.passed_over_reasons.map((one: { reason: string }) => one.reason)),
    new Set(Object.keys(kept)))
  const before = receipts(world)
  must(await once(world))
  t.equal(receipts(world), before, 'a tick that had nothing to do')
  await world.put(blockedRow(world, 'waits.png', 'proof_stale'))
  t.hasStrict((await analyze(world)).json(), { status: 'blocked', reason: 'proof_stale' })
  t.equal((await once(world)).status, 7)
})

t.test('S-205 a pass ends with 7 for as long as images stand behind a gate that a person has to open, and with 0 behind one that a person shut', async (t) => {
  const world = await provedWorld(t)
  await world.put(blockedRow(world, 'a.png', 'budget_not_set'))
  for (const [close, open, status] of [
    [['--unset', 'budget_microusd'], ['--budget-microusd', '1000000'], 7],
    [['--zdr', 'off'], ['--zdr', 'on'], 7],
    [['--unset', 'cloud_upload'], ['--cloud-upload', 'on'], 7],
    [['--cloud-upload', 'off'], ['--cloud-upload', 'on'], 0],
    [['--unset', 'analysis'], ['--analysis', 'on'], 0],
    [['--analysis', 'off'], ['--analysis', 'on'], 0],
  ] as const) {
    await set(world, ...close)
    const kept = receipts(world)
    t.strictSame(await statusesOf(world), [status, status], close.join(' '))
    t.equal(receipts(world), kept + 1, 'a tick of it leaves none')
    await set(world, ...open)
  }
  must(await world.run(['policy', 'revoke', '--json']))
  t.strictSame(await statusesOf(world), [7, 7], 'the route')
})

t.test('S-205 S-042 S-043 the pass that finds a gate shut by a person tells it, those behind it end well, and a capture is told with its own reason', async (t) => {
  const world = await provedWorld(t)
  const pending = (name: string): Observation => observationOf(world.folder, name, {
    analysis_status: 'pending', observed_revision: 1_000, analyzer: { ...analyzer, reason: null },
  })
  for (const [gate, reason] of [
    ['--cloud-upload', 'cloud_upload_off'], ['--analysis', 'analysis_off'],
  ] as const) {
    await world.put(pending(`${reason}.png`))
    await set(world, gate, 'off')
    t.strictSame(await statusesOf(world), [7, 0], gate)
    t.hasStrict(rowOf(world, `${reason}.png`), { analyzer: { reason } })
    await set(world, gate, 'on')
  }
  const camera = await namedCamera(world)
  await takenCapture(world, camera)
  await set(world, '--devices', 'none', '--zdr', 'off')
  await analyze(world)
  t.hasStrict(captured(world)[0], {
    analysis_status: 'blocked', analyzer: { reason: 'device_not_named' },
  })
})

const renewed = { proof_renewal: { outcome: 'renewed' } }

t.test('S-021 S-152 no proof is paid for what it cannot let go, whatever is asked for', async (t) => {
  const world = await provedWorld(t)
  await set(world, '--renew-proof', 'on')
  await namedCamera(world)
  const camera = await cameraOf(world, bothEgress)
  await world.put(...Object.values(keptOtherwise(world)),
    observationOf(world.folder, 'sub/pending.png', {
      analysis_status: 'pending', observed_revision: 1_000, analyzer: { ...analyzer, reason: null },
    }))
  await takenCapture(world, camera)
  await regrant(world)
  await aDayLater(world)
  const before = world.calls().length
  for (const more of [[], ['--include', 'unsettled']]) {
    const held = rowOf(world, 'held.png')
    if (more.length > 0) await world.put({ ...held, observed_revision: 1 })
    t.hasStrict((await analyze(world, ...more)).json(), { proof_renewal: null }, more.join(' '))
  }
  t.equal(world.calls().length, before)
  await world.put({ ...rowOf(world, 'held.png'), observed_revision: 1_000 })
  t.hasStrict((await analyze(world, '--include', 'unsettled')).json(), renewed, 'one that goes')
})

t.test('S-021 no proof is paid for captures of devices whose names are void', async (t) => {
  const world = await provedWorld(t)
  const camera = await namedCamera(world)
  await takenCapture(world, camera)
  await set(world, '--zdr', 'off')
  t.equal((await analyze(world)).status, 7, 'it stands blocked by a gate')
  await set(world, '--zdr', 'on', '--renew-proof', 'on')
  await regrant(world)
  await aDayLater(world)
  const before = world.calls().length
  t.hasStrict((await analyze(world)).json(), { status: 'ok', proof_renewal: null, passed_over: 0 })
  t.equal(world.calls().length, before)
  t.hasStrict(captured(world)[0], {
    analysis_status: 'blocked', analyzer: { reason: 'device_not_named' },
  })
})

t.test('S-042 S-043 captures that stay here wait for nobody, whatever gate is closed besides', async (t) => {
  const world = await provedWorld(t)
  const named = await namedCamera(world)
  const unnamed = await cameraOf(world, bothEgress)
  await takenCapture(world, unnamed)
  await named.store(nextImage(), 0, { policy: bothEgress })
  await set(world, '--zdr', 'off')
  await takeIn(world)
  const waiting = (): unknown => waitingImages(world.ctx(), world.view())
    .map(({ status, reason, count }) => [status, reason, count])
  t.strictSame(waiting(), [['blocked', 'zdr_not_on', 1]], 'of the named device alone')
  const [row] = captured(world).filter(({ edge }) => edge?.device_id === named.id)
  if (row === undefined) throw new Error('it is taken in')
  await regrant(world)
  t.strictSame(waiting(), [], 'its name is void')
  await world.put(failedAs(row))
  t.strictSame(waiting(), [], 'nor is what failed sent again')
  const told = must(await world.run(['explain', row.observation_id, '--json'])).stdout
  t.notMatch(told, 'provider_failure_retry')
  const report = must(await world.run(
    ['shots', 'report', '--since', '2026-11-01', '--until', '2100-01-01', '--json'])).json().report
  t.notMatch(JSON.stringify(report), 'provider_failure_retry')
  must(await world.run(['edge', 'revoke', named.id]))
  t.strictSame(waiting(), [], 'nor behind the end of its pairing')
  await set(world, '--devices', unnamed.id)
  t.strictSame(waiting(), [], 'nor one from before its device was named')
})

t.test('S-158 captures that failed are sent again while their device is named, and those from before another naming are not', async (t) => {
  const world = await provedWorld(t)
  const camera = await namedCamera(world)
  const row = await takenCapture(world, camera)
  await world.put(failedAs(row))
  const waiting = (): unknown => waitingImages(world.ctx(), world.view())
    .map(({ status, reason, count }) => [status, reason, count])
  t.strictSame(waiting(), [['failed', 'timed_out', 1]])
  t.match(must(await world.run(['explain', row.observation_id, '--json'])).stdout,
    'provider_failure_retry')
  await set(world, '--devices', 'none')
  await set(world, '--devices', camera.id)
  t.strictSame(waiting(), [], 'uploaded before its device was named')
})

t.test('rows of a device say why nothing of it is taken up, once a pass has looked', async (t) => {
  const world = await provedWorld(t)
  const camera = await namedCamera(world)
  await takenCapture(world, camera)
  await set(world, '--zdr', 'off')
  await analyze(world)
  t.equal(captured(world)[0]?.analyzer.reason, 'zdr_not_on')
  await set(world, '--zdr', 'on', '--devices', 'none')
  await take(world, 'a.png')
  must(await analyze(world))
  t.equal(captured(world)[0]?.analyzer.reason, 'device_not_named')
  must(await world.run(['edge', 'revoke', camera.id]))
  must(await analyze(world))
  t.equal(captured(world)[0]?.analyzer.reason, 'device_ended')
})

t.test('captures of devices that are not named wait for nobody, however many and however slow the machine is', async (t) => {
  const world = await provedWorld(t)
  const row = await takenCapture(world, await cameraOf(world, bothEgress))
  await world.put(...Array.from({ length: 9 }, (_, n) => ({
    ...row, observation_id: `${row.observation_id}-${n}`,
    captured_at: new Date(Date.UTC(2026, 10, 20, 11, n)).toISOString(),
  })))
  const ctx = world.ctx()
  let ms = 0
  const clock = { ...ctx.gov.clock, monotonicMs: () => (ms += 1_000) }
  t.strictSame(waitingImages({ ...ctx, gov: { ...ctx.gov, clock } }, world.view()), [])
})

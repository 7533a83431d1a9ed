/** A capture is sent where pairing, upload and consent let it, and nowhere else. */
import { edgeCollections } from '../../../src/edge/edge-rows.js'
import { nowIso } from '../../../src/governance/context.js'
import { analyzeBatch } from '../../../src/shots/analysis/batch.js'
import { endImage, prepareImage } from '../../../src/shots/analysis/one.js'
import { readyNow } from '../../../src/shots/analysis/privacy.js'
import { estimateDay } from '../../../src/shots/estimate/estimate.js'
import { makeExaminer } from '../../../src/shots/scan/examiner.js'
import { shotCollections as c, type CaptureOf }
  from '../../../src/shots/observations/observation-rows.js'
import { putObservation } from '../../../src/shots/observations/observation-store.js'
import { receiptCollections } from '../../../src/shots/receipts/receipt-rows.js'
import { cameraOf, captured, takeIn, withheldIn, type Camera } from '../../support/edge/captured.js'
import {
  askEveryWay, bothEgress, namedCamera, nameDevices, openWorld, rowNow, takenCapture,
} from '../../support/edge/naming.js'
import { must } from '../../support/must.js'
import { after } from '../../support/observations.js'
import { image } from '../../support/png.js'
import { desk, settled } from '../../support/settling.js'
import { analyze, healthy, rowOf, sent, set } from '../../support/shots.js'
import { t } from '../../support/tests-in-slices.js'
import type { AnalysisWorld } from '../../world/world.js'

t.test('S-042 S-043 a capture of a named device is sent once, as it was uploaded, and described', async (t) => {
  const world = await openWorld(t)
  const camera = await namedCamera(world)
  const body = image(77)
  await camera.store(body, 0, { policy: bothEgress })
  await takeIn(world)
  const [row] = captured(world)
  t.hasStrict(row, { analysis_status: 'pending', edge: { may_leave: true } })
  const ran = must(await analyze(world)).json()
  t.hasStrict(ran, { analyzed: 1, failed: 0, waiting: 0 })
  t.equal(sent(world), 1)
  const [asked] = world.calls().filter(({ body: said }) => said.includes('svc_screenshot_analysis'))
  t.ok(asked?.body.includes(body.toString('base64')), 'the very bytes of the upload')
  t.hasStrict(captured(world)[0], { analysis_status: 'succeeded', payload: { earlier: false } })
  must(await analyze(world))
  t.equal(sent(world), 1, 'and no second time')
  t.match(must(await world.run(['shots', 'show', row?.observation_id ?? ''])).stdout,
    /gateway\/acme\/screenshot-1/)
  await healthy(t, world)
})

/** A capture whose pairing or upload allows no egress. */
const staying = ({ may_leave: _, ...capture }: CaptureOf): CaptureOf => capture

t.test('captures of a device settle as images of a folder do, and none is held for one that may not leave', async (t) => {
  const world = await settled(t)
  const [camera, other] = [await cameraOf(world, bothEgress), await cameraOf(world, bothEgress)]
  await nameDevices(world, camera.id, other.id)
  for (const one of [camera, other]) {
    for (let i = 0; i < 4; i += 1) {
      await one.store(desk(i === 0 ? null : i), 10_000 * i, { policy: bothEgress })
    }
  }
  await takeIn(world)
  const framesOf = ({ id }: Camera) => captured(world).filter(({ edge }) => edge?.device_id === id)
  const [last] = framesOf(other).slice(-1)
  if (last?.edge === undefined) throw new Error('it is taken in')
  const stays = { ...last, edge: staying(last.edge) }
  const { gov } = world.ctx('write')
  await gov.store.transact('test', (tx) => putObservation(tx, nowIso(gov), stays))
  gov.store.close()
  await analyze(world)
  const endsOf = (one: Camera) =>
    framesOf(one).map(({ analysis_status: status, analyzer }) => analyzer.reason ?? status)
  t.strictSame(endsOf(camera), ['succeeded', 'succeeded', 'unsettled', 'succeeded'])
  t.strictSame(endsOf(other), ['succeeded', 'succeeded', 'succeeded', 'from_device'])
})

/** What keeps a capture here, though nothing else does. */
interface Kept {
  readonly reason: string
  readonly camera?: (world: AnalysisWorld) => Promise<Camera>
  readonly policy?: { readonly cloud_egress: boolean, readonly model_egress: boolean }
  /** Behind the take-in. */
  readonly then?: (world: AnalysisWorld, camera: Camera) => Promise<unknown>
}

const pairedWithout = (egress: 'cloud_egress' | 'model_egress'): Kept => ({
  reason: 'from_device',
  // No verb narrows a pairing, so its row says so by itself.
  then: (_world, { gov, id }) => gov.store.transact('test', (tx) => {
    const row = tx.get(edgeCollections.devices, id)
    if (row === undefined) throw new Error('it is paired')
    tx.put(edgeCollections.devices, id, { ...row, limits: { ...row.limits, [egress]: false } })
  }),
})

const kept: Readonly<Record<string, Kept>> = {
  'its pairing without cloud egress': pairedWithout('cloud_egress'),
  'its pairing without model egress': pairedWithout('model_egress'),
  'its upload without cloud egress': {
    reason: 'from_device', policy: { cloud_egress: false, model_egress: true },
  },
  'its upload without model egress': {
    reason: 'from_device', policy: { cloud_egress: true, model_egress: false },
  },
  'another device named': {
    reason: 'device_not_named',
    camera: async (world) => {
      await namedCamera(world)
      return cameraOf(world, bothEgress)
    },
  },
  'its device paired behind the naming of all': {
    reason: 'device_not_named',
    camera: async (world) => {
      await cameraOf(world, bothEgress)
      await nameDevices(world, 'all')
      return cameraOf(world, bothEgress)
    },
  },
  'its device named behind its upload': {
    reason: 'before_device_named',
    camera: (world) => cameraOf(world, bothEgress),
    then: (world, { id }) => nameDevices(world, id),
  },
  'its device named no more': {
    reason: 'device_not_named', then: (world) => nameDevices(world, 'none'),
  },
  'its device named no more, and then anew': {
    reason: 'before_device_named',
    then: async (world, { id }) => {
      await nameDevices(world, 'none')
      await nameDevices(world, id)
    },
  },
  'its pairing ended': {
    reason: 'device_ended',
    then: async (world, { id }) => must(await world.run(['edge', 'revoke', id])),
  },
  'another consent since': {
    reason: 'device_not_named',
    then: async (world) => {
      must(await world.run(['policy', 'revoke', '--json']))
      must(await world.widen(['--consent', 'gateway.vision']))
    },
  },
  'another consent since, and its device named anew under it': {
    reason: 'before_device_named',
    then: async (world, { id }) => {
      must(await world.run(['policy', 'revoke', '--json']))
      must(await world.widen(['--consent', 'gateway.vision']))
      await nameDevices(world, id)
    },
  },
  'cloud upload off': {
    reason: 'cloud_upload_off', then: (world) => set(world, '--cloud-upload', 'off'),
  },
}

for (const [what, { reason, camera: make = namedCamera, policy, then }] of Object.entries(kept)) {
  t.test(`S-021 S-042 S-043 a capture is never sent with ${what}, however it is asked for`, async (t) => {
    const world = await openWorld(t)
    const camera = await make(world)
    const row = await takenCapture(world, camera, policy === undefined ? {} : { policy })
    await then?.(world, camera)
    t.equal(await askEveryWay(world, row), 0)
    t.hasStrict(rowNow(world, row), {
      analysis_status: 'blocked', payload: null,
      analyzer: { reason, contact: 'none', operation_id: null },
    })
    t.match(must(await world.run(['explain', row.observation_id, '--json'])).stdout, reason)
    await healthy(t, world)
  })
}

/** Steps of one analysis before its first byte. */
const steps = ['claimed', 'reserved', 'contact_begin', 'contact_intent'] as const
const ends = {
  'named no more': (world: AnalysisWorld) => nameDevices(world, 'none'),
  'paired no more': async (world: AnalysisWorld, { id }: Camera) =>
    must(await world.run(['edge', 'revoke', id])),
} as const

for (const step of steps) {
  for (const [what, end] of Object.entries(ends)) {
    t.test(`S-021 a capture whose device is ${what} at ${step} is not sent`, async (t) => {
      const world = await openWorld(t)
      const camera = await namedCamera(world)
      const row = await takenCapture(world, camera)
      let done = false
      await world.run(['shots', 'analyze', '--json'], {
        at: async (at) => {
          if (done || at !== `analyze.${step}`) return
          done = true
          await end(world, camera)
        },
      })
      t.ok(done)
      t.equal(sent(world), 0)
      t.equal(await askEveryWay(world, row), 0)
      t.hasStrict(rowNow(world, row), { payload: null, analyzer: { contact: 'none' } })
      await healthy(t, world)
    })
  }
}

t.test('what came back of a capture whose device is named no more meanwhile is not used', async (t) => {
  const world = await openWorld(t)
  const row = await takenCapture(world, await namedCamera(world))
  await world.run(['shots', 'analyze', '--json'], {
    at: async (at) => {
      if (at === 'analyze.replied') await nameDevices(world, 'none')
    },
  })
  t.equal(sent(world), 1)
  t.equal(rowNow(world, row).payload, null)
  t.equal(await askEveryWay(world, row), 0)
})

t.test('S-149 S-168 killed before the mark a capture is sent once by the next pass, and behind it never again', async (t) => {
  const world = await openWorld(t)
  const camera = await namedCamera(world)
  for (const [step, more, status] of [
    ['claimed', 1, 'succeeded'], ['contact_intent', 0, 'failed'],
  ] as const) {
    const row = await takenCapture(world, camera)
    const killed = await world.place.spawn(['shots', 'analyze', '--json'], {
      entry: 'test', env: { TEST_STOP_AT: `analyze.${step}` }, coverage: false,
    })
    t.equal(killed.status, 137)
    const before = sent(world)
    must(await analyze(world))
    must(await analyze(world))
    t.equal(sent(world) - before, more)
    t.equal(rowNow(world, row).analysis_status, status)
  }
  await healthy(t, world)
})

t.test('killed between claim and mark, a capture whose device is named no more then is not sent by the next pass', async (t) => {
  const world = await openWorld(t)
  const row = await takenCapture(world, await namedCamera(world))
  const killed = await world.place.spawn(['shots', 'analyze', '--json'], {
    entry: 'test', env: { TEST_STOP_AT: 'analyze.contact_begin' }, coverage: false,
  })
  t.equal(killed.status, 137)
  await nameDevices(world, 'none')
  t.equal(await askEveryWay(world, row), 0)
})

t.test('S-044 the same bytes in the folder and of a device are two requests, and neither is the other\'s', async (t) => {
  const world = await openWorld(t)
  const camera = await namedCamera(world)
  const body = image(90)
  world.file('same.png', body, after(0))
  must(await world.run(['shots', 'scan']))
  must(await analyze(world))
  await camera.store(body, 0, { policy: bothEgress })
  await takeIn(world)
  must(await analyze(world))
  t.equal(sent(world), 2)
  t.equal(captured(world)[0]?.analysis_status, 'succeeded')
  t.equal(rowOf(world, 'same.png').analysis_status, 'succeeded')
  t.not(captured(world)[0]?.payload?.operation_id, rowOf(world, 'same.png').payload?.operation_id)
})

t.test('a capture that the disk does not give ends nothing but its own turn, and is left as it was', async (t) => {
  const world = await openWorld(t)
  const row = await takenCapture(world, await namedCamera(world))
  const ctx = withheldIn(world.ctx('write'), [row.edge?.artifact_id ?? ''])
  const examiner = makeExaminer()
  const one = await prepareImage(ctx, row, { recursive: false, examiner, released: false })
  const end = await endImage(ctx, one, {
    reason: null, group: null, agreed: null, timeoutMs: 1_000, described: null, settling: null,
  })
  t.hasStrict(end, { outcome: 'skipped', reason: 'io_failed', stop: null, operationId: null })
  t.equal(await readyNow(ctx, row), null, 'nor does it stand for another')
  t.strictSame(rowNow(world, row), row)
  await examiner.close()
  const receipts = () => world.view().all(receiptCollections.receipts).length
  const before = receipts()
  for (let tick = 0; tick < 2; tick += 1) {
    t.hasStrict(await analyzeBatch(ctx, { scheduled: true }),
      { status: 'blocked', reason: 'io_failed', skipped: 1, analyzed: 0, receipt_id: null })
  }
  t.equal(receipts(), before, 'each pass tells it, and none leaves a receipt of it')
  ctx.gov.store.close()
})

t.test('a capture that the disk does not give just now is estimated as a request, and the number as the most that it can be', async (t) => {
  const world = await openWorld(t)
  const row = await takenCapture(world, await namedCamera(world))
  const ctx = world.ctx()
  const asked = { day: row.captured_at.slice(0, 10), timeZone: 'UTC' }
  const told = {
    tally: { would_pay: 1, source_missing: 0 }, choices: [{ calls: 1 }, { calls: 1 }],
  }
  t.hasStrict(await estimateDay(ctx, asked), { ...told, exact: true, notCompared: 0 })
  t.hasStrict(await estimateDay(withheldIn(ctx, [row.edge?.artifact_id ?? '']), asked),
    { ...told, exact: false, notCompared: 1 })
  ctx.gov.store.close()
})

t.test('bytes that are not those of the upload, or cannot be opened, are not sent', async (t) => {
  const world = await openWorld(t)
  const camera = await namedCamera(world)
  const gone = await takenCapture(world, camera)
  const other = await takenCapture(world, camera)
  const { gov } = camera
  const stored = gov.store.read().get(edgeCollections.artifacts, gone.edge?.artifact_id ?? '')
  gov.store.artifacts.remove(stored?.ref.stored_sha256 ?? '')
  await gov.store.transact('test', (tx) => {
    tx.put(c.observations, other.observation_id, { ...other, sha256: 'a'.repeat(64) })
  })
  await analyze(world)
  t.equal(sent(world), 0)
  for (const row of [gone, other]) {
    t.equal(rowNow(world, row).analyzer.reason, 'capture_unreadable')
  }
})

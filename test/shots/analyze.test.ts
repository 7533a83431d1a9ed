/** Scan, analyse, look: the state table over the program and the sandbox. */
import { mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { readArtifact } from '../../src/governance/artifacts.js'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { openPayload } from '../../src/shots/payload/read-payload.js'
import {
  artifactKinds, payloadField, type AnalysisPayload,
} from '../../src/shots/payload/schema.js'
import { analysisStatuses, classifications, shotLabels } from '../../src/shots/constants.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { analyze, healthy, nextImage, rowOf, scan, sent, take } from '../support/shots.js'
import { keptOf } from '../support/kept.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import type { Ran } from '../world/place.js'

/** Both images are looked at without a proof, then analysed with one. */
const analysed = async (world: AnalysisWorld): Promise<Ran> => {
  await analyze(world)
  await must(world.prove('screenshot'))
  return must(analyze(world))
}

/** An image whose bytes are others by the time it is analysed. */
const changed = async (world: AnalysisWorld): Promise<void> => {
  await take(world, 'other.png')
  world.file('other.png', nextImage())
}

/** Every field with a value that no other answer has. */
const everyField: AnalysisPayload = {
  schema: 'svc.screenshot_analysis.v1',
  summary: 'A list of berths beside a tide table.',
  observations: ['Two columns.', 'The third row is marked.'],
  activity: 'planning',
  project: 'harbour',
  applications: ['Spreadsheet', 'Browser'],
  artifacts: artifactKinds.map((kind) => ({ kind, name: `the ${kind}` })),
  snippets: ['berth 7'],
  intent: 'Find a free berth.',
  goal: { status: 'partly_aligned', evidence: 'A note names berths.', pushed_the_needle: 'no' },
  confidence: 0.625,
  sensitive: true,
  privacy_notes: ['a name was left out'],
  tags: ['berths', 'tide-2'],
}

t.test('S-080 S-081 S-082 S-083 S-084 S-085 the stored payload holds every field as the gateway gave it', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').texts()
  const { reply_model: model, reply_provider: provider } = (await world.json(['gateway', 'show']))
    .gateway.slots.screenshot.proof
  const analyses = [{ ...everyField, snippets: [] }, { ...everyField, sensitive: false }]
  for (const [at, payload] of analyses.entries()) {
    await take(world, `${at}.png`)
    world.say(JSON.stringify(payload), { model, provider })
    must(await world.run(['shots', 'analyze', '--json']))
    const row = rowOf(world, `${at}.png`)
    const ctx = world.ctx()
    const bytes = readArtifact(
      ctx.gov, ctx.gov.store.read(), row.payload?.artifact_id ?? '', shotLabels.payload)
    t.strictSame(JSON.parse(bytes.toString()), payload)
    const shown = await world.json(['shots', 'show', row.observation_id, '--analysis'])
    t.strictSame(shown.payload, payload)
  }
})

t.test('the life of an image', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  world.file('a.png', nextImage())
  world.file('b.png', nextImage())
  await scan(world)
  const back = keptOf(world)

  await t.test('S-145 S-146 a scan with an open route gives pending and calls nobody', async (t) => {
    t.strictSame(world.rows().map((row) => row.analysis_status), ['pending', 'pending'])
    t.equal(world.calls().length, 0)
    must(await world.prove('screenshot'))
    const before = world.calls().length
    await take(world, 'c.png')
    t.hasStrict(rowOf(world, 'c.png'), { analysis_status: 'pending', payload: null })
    t.equal(world.calls().length, before)
    must(await analyze(world))
    t.equal(rowOf(world, 'c.png').analysis_status, 'succeeded', 'it was open')
    t.equal(world.calls().length, before + 3)
  })

  await t.test('S-152 S-153 S-205 without a proof it blocks at the cost of one attempt', async (t) => {
    back()
    const ran = await analyze(world, '--limit', '1')
    t.equal(ran.status, 7, ran.stderr)
    t.hasStrict(ran.json(), {
      status: 'blocked', reason: 'proof_missing', scanned: 1, analyzed: 0, blocked: 1, failed: 0,
      skipped: 0, limit: 1, items: [{ outcome: 'blocked', reason: 'proof_missing' }],
    })
    const blocked = rowOf(world, 'a.png')
    t.hasStrict(blocked, { analysis_status: 'blocked', analyzer: { reason: 'proof_missing' } })
    t.equal(blocked.analyzer.attempts, 1)
    await analyze(world, '--limit', '1')
    await analyze(world, '--limit', '1')
    t.equal(rowOf(world, 'a.png').analyzer.attempts, 1, 'no loop follows')
    t.equal(rowOf(world, 'b.png').analyzer.attempts, 1)
    t.equal(world.calls().length, 0)
  })

  await t.test('S-136 S-137 S-149 S-205 a proof lets both be analysed, receipt and row agree', async (t) => {
    back()
    const ran = await analysed(world)
    t.equal(ran.status, 0, ran.stderr)
    const receipt = ran.json()
    t.matchStrict(receipt, {
      job: 'screenshot_folder_analysis', status: 'ok', reason: null, scheduled: false,
      scanned: 2, analyzed: 2, failed: 0, blocked: 0, skipped: 0, restored: 2,
      concurrency: 2, limit: 20, timeout_seconds: 45, consent_id: /^con_/, receipt_id: /^rct_/,
    })
    t.ok(Number.isInteger(receipt.duration_ms))
    t.strictSame(
      receipt.items.map((one: { outcome: string }) => one.outcome), ['succeeded', 'succeeded']
    )
    const row = rowOf(world, 'a.png')
    t.hasStrict(row, {
      analysis_status: 'succeeded', classification: null,
      analyzer: { contact: 'ended', reason: null, attempts: 2 },
      payload: {
        model: 'gateway/acme/screenshot-1', prompt_version: 'svc.screenshot_analysis.prompt.v1',
        schema_version: 'svc.screenshot_analysis.v1', earlier: false,
      },
    })
    const sum = world.rows().reduce((all, one) => all + (one.payload?.cost_microusd ?? 0), 0)
    t.equal(receipt.cost_microusd, sum)
    t.equal(findReservation(world.view(), row.analyzer.operation_id ?? '')?.state, 'settled')
  })

  await t.test('S-066 S-078 S-080 the payload is sealed, exact and in its own record', async (t) => {
    back()
    await analysed(world)
    const row = rowOf(world, 'a.png')
    const ctx = world.ctx()
    const view = ctx.gov.store.read()
    if (row.payload === null) return t.fail('no payload')
    const payload = v.parse(payloadField.shape, openPayload(ctx, view, row.payload))
    t.matchStrict(
      payload, { schema: 'svc.screenshot_analysis.v1', summary: /\.$/, confidence: Number }
    )
    const bytes = readArtifact(ctx.gov, view, row.payload.artifact_id, shotLabels.payload)
    t.hasStrict(JSON.parse(bytes.toString()), { schema: 'svc.screenshot_analysis.v1' })
    const summary = Buffer.from(payload.summary)
    const files = readdirSync(world.place.stateDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
    for (const { parentPath, name } of files) {
      t.notOk(readFileSync(join(parentPath, name)).includes(summary), `${name} holds no word of it`)
    }
    const shown = await world.run(['shots', 'show', row.observation_id, '--analysis', '--json'])
    t.strictSame(shown.json().payload, payload)
  })

  await t.test('S-155 nothing is analysed twice', async (t) => {
    back()
    await analysed(world)
    const before = sent(world)
    t.hasStrict((await analyze(world)).json(), { scanned: 0, items: [], status: 'ok' })
    t.equal(sent(world), before)
  })

  await t.test('S-154 S-155 S-019 an image that is gone is missing, and nothing is sent', async (t) => {
    back()
    await analysed(world)
    world.file('gone.png', nextImage())
    await scan(world)
    unlinkSync(`${world.folder}/gone.png`)
    const before = sent(world)
    const ran = await analyze(world)
    t.hasStrict(
      ran.json(), { blocked: 1, items: [{ outcome: 'blocked', reason: 'source_missing' }] }
    )
    t.hasStrict(rowOf(world, 'gone.png'), {
      classification: 'source_missing', analysis_status: 'pending',
      analyzer: { attempts: 0, contact: 'none' },
    })
    for (let tick = 0; tick < 2; tick += 1) {
      t.hasStrict((await analyze(world)).json(), { scanned: 0 })
    }
    t.equal(sent(world), before)
    const claims = world.view().all(claimCollection).length
    t.equal(claims, before + 1, 'no admission was taken: one claim a request, and the proof')
  })

  await t.test('S-019 other bytes under the name are not what was observed', async (t) => {
    back()
    await analysed(world)
    await changed(world)
    const before = sent(world)
    t.hasStrict((await analyze(world)).json(), { items: [{ reason: 'source_missing' }] })
    t.equal(sent(world), before)
  })

  await t.test('a copy under another recorded path is sent instead', async (t) => {
    back()
    await analysed(world)
    await changed(world)
    await analyze(world)
    const bytes = nextImage()
    world.file('first.png', bytes)
    await scan(world)
    world.file('second.png', bytes)
    await scan(world)
    unlinkSync(`${world.folder}/second.png`)
    t.hasStrict((await analyze(world)).json(), { analyzed: 2, failed: 0 }, 'and the changed one')
    t.equal(rowOf(world, 'first.png').analysis_status, 'succeeded')
  })

  await t.test('S-154 a folder that is not there loses no image', async (t) => {
    back()
    await analysed(world)
    world.file('later.png', nextImage())
    await scan(world)
    const rows = world.rows()
    rmSync(world.folder, { recursive: true })
    const ran = await analyze(world)
    t.hasStrict(ran.json(), { status: 'degraded', reason: 'folder_missing', scanned: 0 })
    t.strictSame(world.rows(), rows)
    mkdirSync(world.folder)
  })

  await t.test('S-143 S-144 no other status and no other classification ever occurs', async (t) => {
    back()
    await analysed(world)
    for (const name of ['gone.png', 'fails.png']) await take(world, name)
    unlinkSync(`${world.folder}/gone.png`)
    world.sandbox.faults.set('shot_prose', { service: 'gateway', times: 1 })
    await changed(world)
    await analyze(world)
    await take(world, 'pending.png')
    for (const row of world.rows()) {
      t.ok(analysisStatuses.includes(row.analysis_status))
      t.ok(row.classification === null || classifications.includes(row.classification))
    }
  })

  await healthy(t, world)
})

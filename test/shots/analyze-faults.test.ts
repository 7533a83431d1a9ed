/** What a gateway may do to an analysis: each ends in a status, none in a payload or a retry. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { planted } from '../../src/sandbox/faults/analysis.js'
import { savedSettings } from '../../src/shots/source/settings.js'
import { openPayload } from '../../src/shots/payload/read-payload.js'
import { payloadField } from '../../src/shots/payload/schema.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { checkLedger } from '../support/ledger.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran, RunOptions } from '../world/place.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { healthy, rowOf, take } from '../support/shots.js'
import { must } from '../support/must.js'
import { noArtifactsAt } from '../support/no-artifacts.js'
import { timeOf } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'
import { slice } from '../support/slice.js'

/** Takes one image in and has it analysed under a fault. */
const withFault = async (
  world: AnalysisWorld, fault: string, options: RunOptions & { readonly value?: number } = {},
): Promise<{ readonly ran: Ran, readonly row: Observation }> => {
  const name = `${fault}.png`
  await take(world, name)
  const { value, ...more } = options
  world.sandbox.faults.set(fault, {
    service: 'gateway', times: 1, ...(value === undefined ? {} : { value }),
  })
  const ran = await world.run(['shots', 'analyze', '--json'], more)
  return { ran, row: rowOf(world, name) }
}

const stateHolds = (world: AnalysisWorld, text: string): boolean =>
  readdirSync(world.place.stateDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text))

/** Reply texts that are refused after their charge is settled. */
const refused: Readonly<Record<string, string>> = {
  shot_prose: 'payload_not_json',
  shot_fenced: 'payload_not_json',
  shot_truncated_json: 'payload_not_json',
  shot_unknown_field: 'payload_unknown_field',
  shot_unknown_nested_field: 'payload_unknown_field',
  shot_other_activity: 'payload_enum_invalid',
  shot_confidence_high: 'payload_confidence_invalid',
  shot_confidence_text: 'payload_confidence_invalid',
  shot_long_snippet: 'payload_text_too_long',
  shot_secret: 'payload_contains_secret',
  shot_password: 'payload_contains_secret',
  shot_chat: 'payload_contains_message',
  shot_cut: 'reply_truncated',
  wrong_model: 'reply_model_changed',
  wrong_upstream: 'reply_provider_changed',
  empty_answer: 'empty_content',
  error_beside: 'error_member',
  error_in_choice: 'error_member',
  chunk_object: 'stream_piece',
  delta: 'stream_piece',
}

/** Faults that leave the charge unknown. */
const unknown = [
  'no_cost', 'status_500', 'shot_huge_error', 'reset_before_headers', 'first_line_http2',
  'first_line_foreign', 'first_line_nul', 'switching',
] as const

// One chain: its last two subtests look at what all of those before have left behind.
t.test('S-151 S-150 what is refused or uncertain', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const told = slice('refused', Object.entries(refused), {
    axesOf: ([, reason]) => [reason.replace(/_.*/, '')], idOf: ([fault]) => fault, atLeast: 6,
  })
  for (const [fault, reason] of told) {
    await t.test(`S-019 S-090 S-091 S-092 S-093 S-151 S-191 ${fault} fails, paid and told`, async (t) => {
      const { ran, row } = await withFault(world, fault)
      t.equal(ran.status, 9, ran.stderr)
      t.hasStrict(ran.json(), {
        status: 'degraded', failed: 1, analyzed: 0, items: [{ outcome: 'failed', reason }],
      })
      t.hasStrict(row, { analysis_status: 'failed', payload: null, analyzer: { reason } })
      t.ok((row.analyzer.detail ?? '').length <= 300)
      const money = findReservation(world.view(), row.analyzer.operation_id ?? '')
      t.equal(money?.state, 'settled')
    })
  }
  const uncertain = slice('uncertain', unknown, {
    axesOf: (fault) => [fault.replace(/_.*/, '') === 'first' ? 'no answer' : 'an answer'],
    idOf: (fault) => fault, atLeast: 3,
  })
  for (const fault of uncertain) {
    await t.test(`S-065 S-150 S-168 ${fault} fails, uncertain, its hold kept`, async (t) => {
      const { row } = await withFault(world, fault)
      t.hasStrict(row, {
        analysis_status: 'failed', payload: null, analyzer: { contact: 'uncertain' },
      })
      t.ok(JSON.stringify(row.analyzer).length < 1_000, 'bounded, whatever the reply')
      const money = findReservation(world.view(), row.analyzer.operation_id ?? '')
      t.equal(money?.state, 'unknown')
      // A refusal pauses what comes after it; a reply that is none lifts that.
      must(await world.prove('screenshot'))
    })
  }
  await t.test('S-168 S-155 later ticks send none of them again', async (t) => {
    const before = world.calls().length
    for (let tick = 0; tick < 2; tick += 1) {
      t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { scanned: 0 })
    }
    t.equal(world.calls().length, before)
  })
  await t.test('S-083 S-087 S-088 nothing of what was planted is stored', async (t) => {
    for (const text of [planted.key, planted.password, planted.chat, 'const value = compute']) {
      t.notOk(stateHolds(world, text), text)
    }
  })
  checkLedger(t, world)
})

t.test('S-086 S-087 text in the picture gives no orders', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const before = savedSettings(world.view())
  const { ran, row } = await withFault(world, 'shot_injection')
  t.equal(ran.status, 0, ran.stderr)
  t.equal(row.analysis_status, 'succeeded')
  const ctx = world.ctx()
  if (row.payload === null) return t.fail('no payload')
  const stored = openPayload(ctx, ctx.gov.store.read(), row.payload)
  const payload = v.parse(payloadField.shape, stored)
  t.strictSame(payload.snippets, [planted.order, planted.markup], 'kept as data, exactly')
  t.strictSame(savedSettings(world.view()), before, 'no setting changed')
  t.equal((await world.run(['shots', 'analyze', '--json'])).json().scanned, 0)
})

t.test('S-151 an error of null beside an analysis is none', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const { row } = await withFault(world, 'error_null')
  t.equal(row.analysis_status, 'succeeded')
})

t.test('S-089 unknown, null and no confidence at all are a good answer', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const { row } = await withFault(world, 'shot_unknowns')
  t.equal(row.analysis_status, 'succeeded')
})

t.test('an analysis that cannot be written is lost, its charge is settled and the image is not sent again', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  for (const name of ['a.png', 'b.png', 'c.png']) await take(world, name)
  const asked = world.calls().length
  const ran = await world.run(['shots', 'analyze', '--json'], {
    at: noArtifactsAt(world, 'analyze'),
  })
  t.hasStrict([ran.status, ran.error().code], [1, 'result_not_stored'], ran.stderr)
  t.hasStrict(ran.json(), {
    failed: 1, analyzed: 0, reason: 'result_not_stored', items: [{ reason: 'result_not_stored' }],
  })
  t.equal(world.calls().length, asked + 1, 'what is paid for behind it would be lost, too')
  const lost = ['a.png', 'b.png', 'c.png'].find((name) =>
    rowOf(world, name).analysis_status === 'failed') ?? ''
  const { analysis_status, payload, analyzer } = rowOf(world, lost)
  t.strictSame([analysis_status, payload, analyzer.contact], ['failed', null, 'ended'])
  t.equal(analyzer.detail, 'The analysis could not be written; its charge stands.')
  const money = findReservation(world.view(), analyzer.operation_id ?? '')
  t.equal(money?.state, 'settled')
  t.ok((money?.charged_microusd ?? 0) > 0, 'what the reply told')
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 2 })
  const again = ['shots', 'reanalyze', '--failed', '--reason', 'provider_failure_retry', '--yes']
  t.hasStrict((await world.run([...again, '--json'])).json(), { analyzed: 1 })
  await healthy(t, world)
})

t.test('S-135 S-207 S-150 a gateway that never answers ends one image at its timeout', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'second.png')
  // The other image has to be answered in this time.
  const seconds = Math.min(60, Math.max(5, Math.round(timeOf(100) / 1_000)))
  const startedMs = Date.now()
  const { ran, row } = await withFault(world, 'hang_before_headers', {
    env: { SCREENSHOT_FOLDER_ANALYSIS_JOB_TIMEOUT_SECONDS: String(seconds) },
  })
  t.ok(Date.now() - startedMs < timeOf(500) + seconds * 1_000, 'far below the timeout of the slot')
  t.hasStrict(ran.json(), { timeout_seconds: seconds, failed: 1, analyzed: 1, scanned: 2 })
  t.hasStrict([row, rowOf(world, 'second.png')].map((one) => one.analysis_status).sort(), [
    'failed', 'succeeded',
  ], 'for one image, not for the batch')
})

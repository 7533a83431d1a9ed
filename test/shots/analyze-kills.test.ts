/** The analysing process is killed between two steps; later ticks do what the mark says. */
import type { Test } from 'tap'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { runningCollection } from '../../src/shots/analysis/analysis-rows.js'
import { checkLedger } from '../support/ledger.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { analyze, rowOf, sent, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

const killAt = async (t: Test, world: AnalysisWorld, step: string): Promise<void> => {
  const ran = await world.place.spawn(['shots', 'analyze', '--json'], {
    entry: 'test', env: { TEST_STOP_AT: `analyze.${step}` }, coverage: false,
  })
  t.equal(ran.status, 137, `killed at ${step}: ${ran.stderr}`)
}

t.test('S-149 S-022 killed before the mark: both or neither, and the next tick does the work', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  for (const step of ['claimed', 'contact_begin']) {
    const name = `${step}.png`
    await take(world, name)
    await killAt(t, world, step)
    const before = sent(world)
    t.hasStrict(rowOf(world, name), { analysis_status: 'pending', payload: null })
    const ran = await analyze(world)
    t.hasStrict(ran.json(), { analyzed: 1, failed: 0 }, ran.stderr)
    t.equal(sent(world), before + 1, 'once')
    t.hasStrict(rowOf(world, name), { analysis_status: 'succeeded', analyzer: { attempts: 2 } })
  }
  t.strictSame(world.view().all(runningCollection), [], 'no admission outlives its process')
  checkLedger(t, world)
})

t.test('S-149 S-168 killed after the mark: failed, uncertain, and never sent again by itself', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  for (const step of ['contact_intent', 'replied']) {
    const name = `${step}.png`
    await take(world, name)
    await killAt(t, world, step)
    const before = sent(world)
    const ran = await analyze(world)
    t.hasStrict(ran.json(), { scanned: 0 })
    await analyze(world)
    t.equal(sent(world), before, 'later ticks and restarts send nothing')
    const row = rowOf(world, name)
    t.hasStrict(row, {
      analysis_status: 'failed', payload: null,
      analyzer: { contact: 'uncertain', reason: 'interrupted_after_contact' },
    })
    t.equal(findReservation(world.view(), row.analyzer.operation_id ?? '')?.state, 'unknown')
    const shown = await world.run(['shots', 'show', row.observation_id, '--json'])
    t.match(shown.stdout, 'interrupted_after_contact', 'its state is shown')
    const other = await world.run([
      'shots', 'reanalyze', row.observation_id, '--reason', 'manual_operator_request', '--json',
    ])
    t.hasStrict(other.error(), { reason: 'provider_failure_retry_needed' })
    t.equal(sent(world), before)
  }
  const [row] = world.rows()
  const again = await world.run([
    'shots', 'reanalyze', row?.observation_id ?? '', '--reason', 'provider_failure_retry', '--json',
  ])
  t.hasStrict(again.json(), { analyzed: 1 }, again.stderr)
  checkLedger(t, world)
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)
})

t.test('S-149 killed right after the closing record: status and payload are both there', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  await killAt(t, world, 'finished')
  const row = rowOf(world, 'a.png')
  t.equal(row.analysis_status, 'succeeded')
  t.ok(row.payload !== null)
  t.hasStrict((await analyze(world)).json(), { scanned: 0 })
  t.equal(sent(world), 1)
})

/** A retry that is refused before contact: what it was about stays what it was. */
import type { Test } from 'tap'
import { failedBefore } from '../../src/shots/analysis/earlier-call.js'
import { rowAfter } from '../../src/shots/analysis/outcome.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { checkLedger } from '../support/ledger.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { must } from '../support/must.js'
import { observationOf } from '../support/observations.js'
import { holding, nextImage, rowOf, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

const names = ['a.png', 'b.png']

/** Two images whose requests nobody knows the end of. */
const uncertain = async (world: AnalysisWorld): Promise<void> => {
  await holding(...names)(world)
  world.sandbox.faults.set('reset_before_headers', { service: 'gateway', times: 2 })
  await world.run(['shots', 'analyze', '--json'])
}

/** What later passes do with a newer image while the two wait. */
const newerGoes = async (t: Test, world: AnalysisWorld): Promise<void> => {
  const calls = world.calls().length
  world.file('new.png', nextImage(), '2026-11-20T11:00:00.000Z')
  await must(world.run(['shots', 'scan', '--json']))
  for (const expected of [{ analyzed: 1, skipped: 0 }, { scanned: 0, skipped: 0 }]) {
    const ran = await world.run(['shots', 'analyze', '--json', '--limit', '2'])
    t.hasStrict(ran.json(), expected, ran.stderr)
  }
  t.equal(rowOf(world, 'new.png').analysis_status, 'succeeded')
  t.equal(world.calls().length, calls + 1, 'and nothing uncertain is sent again')
  for (const name of names) {
    t.hasStrict(rowOf(world, name), {
      analysis_status: 'failed', analyzer: { contact: 'uncertain' },
    }, name)
  }
}

t.test('S-168 a retry that is refused before contact leaves an uncertain image failed and uncertain, and newer images go on', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(uncertain)
  const before = names.map((name) => rowOf(world, name))
  t.ok(before.every((row) => row.analyzer.contact === 'uncertain'))
  for (const row of before) {
    const elsewhere = { ...row.analyzer, operation_id: null }
    t.equal(failedBefore(world.view(), { ...row, analysis_status: 'blocked', analyzer: elsewhere }),
      true, 'whatever its status and its model')
  }
  for (const row of before) {
    let done = false
    const argv = ['shots', 'reanalyze', row.observation_id, '--json']
    const ran = await world.run([...argv, '--reason', 'provider_failure_retry'], {
      at: async (at) => {
        if (done || at !== 'analyze.claimed') return
        done = true
        await set(world, '--cloud-upload', 'off')
      },
    })
    t.hasStrict(ran.json(), { items: [{ outcome: 'blocked', reason: 'cloud_upload_off' }] })
    await set(world, '--cloud-upload', 'on')
  }
  for (const [n, name] of names.entries()) {
    const { analysis_status, analyzer } = rowOf(world, name)
    const { reanalyze_reason, attempts, updated_at } = analyzer
    t.strictSame({ analysis_status, analyzer }, {
      analysis_status: 'failed',
      analyzer: { ...before[n]?.analyzer, reanalyze_reason, attempts, updated_at },
    }, 'also the operation whose charge is not known')
    t.equal(attempts, 2)
  }
  await newerGoes(t, world)
  checkLedger(t, world)
})

t.test('a row names the call that it tells of, whatever a later one that sent nothing ended with', (t) => {
  const row = observationOf('/shots', 'a.png', { analysis_status: 'failed' })
  const claimed = {
    ...row, analyzer: { ...row.analyzer, operation_id: 'op_2', input_digest: '2'.repeat(64) },
  }
  const call = { operation_id: 'op_1', input_digest: '1'.repeat(64) }
  const after = (
    contact: 'none' | 'ended' | 'uncertain', errorKind: 'blocked' | 'locked' | 'rejected',
    earlier: Partial<typeof call> = call,
  ): string | null => {
    const before = { analysis_status: row.analysis_status, reason: 'x', detail: null, contact }
    const end = { outcome: 'not_contacted' as const, reason: 'y', errorKind }
    const { analyzer } = rowAfter(claimed, { ...before, ...earlier }, end, null, '2026-11-20')
    t.equal(analyzer.input_digest, analyzer.operation_id === 'op_1' ? call.input_digest
      : claimed.analyzer.input_digest)
    return analyzer.operation_id
  }
  for (const kind of ['blocked', 'locked', 'rejected'] as const) {
    t.equal(after('uncertain', kind), 'op_1', kind)
    t.equal(after('none', kind), 'op_2', 'nothing was sent before it')
    t.equal(after('uncertain', kind, {}), 'op_2', 'an earlier version kept none')
  }
  t.equal(after('ended', 'blocked'), 'op_1')
  t.equal(after('ended', 'rejected'), 'op_2', 'it tells of the new one from now on')
  t.end()
})

for (const status of ['blocked', 'pending'] as const) {
  t.test(`S-168 an uncertain image that an earlier version left ${status} is failed again and keeps nothing from going on`, async (t) => {
    const world = await World.in(t).sandbox().state().session()
      .gateway(forImages).images(allowed).proof('screenshot').with(uncertain)
    await world.put(...names.map((name): Observation => {
      const row = rowOf(world, name)
      const reason = status === 'blocked' ? 'cloud_upload_off' : null
      return { ...row, analysis_status: status, analyzer: { ...row.analyzer, reason } }
    }))
    await newerGoes(t, world)
  })
}

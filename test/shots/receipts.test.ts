/** Receipts of jobs: one closed shape each, printed, stored and documented. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { digestOf } from '../../src/base/canonical.js'
import { receiptIdOf } from '../../src/shots/receipts/append.js'
import { receiptCollections, receiptHeadId } from '../../src/shots/receipts/receipt-rows.js'
import { scanReceiptShape } from '../../src/shots/receipts/scan.js'
import { after } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { scanFactsOf } from '../support/receipts.js'
import { World } from '../world/world.js'

const { schema } = receiptCollections.receipts
const headOf = (number: number, previous: unknown) => ({
  receipt_id: `rct_${number}`, number, at: after(number),
  previous_sha256: previous === null ? null : digestOf(previous),
})

/** Before reanalysis, blocked reasons and open charges were told. */
const oldAnalysis = {
  ...headOf(1, null),
  job: 'screenshot_folder_analysis' as const,
  facts: {
    status: 'degraded' as const, reason: 'call_failed', scheduled: true, limit: 20,
    concurrency: 1, timeout_seconds: 120, scanned: 1, analyzed: 0, failed: 1, blocked: 0,
    skipped: 0, restored: 0, needs_reanalysis: 0, stale_root: 0, cost_microusd: 0,
    consent_id: 'cns_1', duration_ms: 12,
    items: [{
      observation_id: 'obs_1', outcome: 'failed' as const, reason: 'call_failed',
      operation_id: 'op_1', cost_microusd: null,
    }],
  },
}

/** Before open charges were told. */
const oldDigest = {
  ...headOf(2, oldAnalysis),
  job: 'screenshot_observation_digest' as const,
  facts: {
    job: 'screenshot_observation_digest' as const, status: 'ok' as const, reason: null,
    written: 1, updated: 0, unchanged: 0, not_repeated: 0, blocked: 0, failed: 0, duration_ms: 5,
    windows: [{
      window_start: after(0), window_end: after(1_800_000), outcome: 'written' as const,
      reason: null, observation_count: 1, operation_id: 'op_2', cost_microusd: 900,
      episode_id: 'epi_1', digest_key: 'a'.repeat(64), payload_sha256: 'b'.repeat(64),
      revision: 1,
    }],
  },
}

t.test('S-131 S-142 receipts of earlier versions open, exactly as they were written, and the chain goes on', async (t) => {
  const world = await World.in(t).state().session().images()
  const { store } = world.ctx('write').gov
  await store.transact('test', (tx) => {
    tx.put(receiptCollections.receipts, receiptIdOf(1), oldAnalysis)
    tx.put(receiptCollections.receipts, receiptIdOf(2), oldDigest)
    tx.put(receiptCollections.head, receiptHeadId, { number: 2, sha256: digestOf(oldDigest) })
  })
  store.close()
  t.strictSame(
    world.view().all(receiptCollections.receipts).map(({ doc }) => doc), [oldAnalysis, oldDigest])
  world.file('a.png', greyPng(64, 48, 1))
  t.hasStrict((await world.run(['shots', 'scan', '--json'])).json(), { ingested: 1, number: 3 })
  t.hasStrict(world.view().get(receiptCollections.receipts, receiptIdOf(3)), {
    previous_sha256: digestOf(oldDigest),
  })
  const checked = await world.run(['state', 'check', '--json'])
  t.equal(checked.status, 0, checked.stdout)
})

t.test('S-131 S-177 a scan stores the very facts that it prints, and the page lists their names', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(64, 48, 1))
  world.file('b.png', Buffer.from('no picture'))
  const printed = (await world.run(['shots', 'scan', '--json'])).json()
  const stored = world.view().get(receiptCollections.receipts, receiptIdOf(printed.number))
  const { receipt_id: id, number, recorded, job, at, schema: name, ...told } = printed
  t.strictSame([recorded, name], [true, 'sallyport.shots.scan.v1'])
  t.hasStrict(stored, { receipt_id: id, number, job, at })
  // Time goes on between the record and the last line.
  t.strictSame({ ...stored?.facts, duration_ms: 0 }, { ...told, duration_ms: 0 })

  const page = readFileSync(join(process.cwd(), 'docs/dev/screenshots.md'), 'utf8')
  const [, listed = ''] = /## The receipt\n\n?([^#]*?)\n\n/.exec(page) ?? []
  const names = [...listed.matchAll(/"([a-z0-9_]+)"(?=[,:}])/g)].map(([, one]) => one)
  const own = names.filter((one) => !['name', 'text', 'bytes_base64', printed.job].includes(one))
  t.strictSame([...new Set(own)], ['schema', ...Object.keys(scanReceiptShape.entries)])
})

t.test('S-131 a receipt holds what its job tells and nothing else', async (t) => {
  const facts = scanFactsOf()
  const receipt = { ...headOf(1, null), job: 'screenshot_folder_ingest', facts }
  t.ok(v.safeParse(schema, receipt).success)
  const wrong = [
    { ...receipt, facts: { ...facts, note: 'more' } },
    { ...receipt, facts: {} },
    { ...receipt, facts: { ...facts, scanned: -1 } },
    { ...receipt, facts: oldAnalysis.facts },
    { ...receipt, job: 'another' },
    { ...oldAnalysis, facts: { ...oldAnalysis.facts, question: 'x' } },
    { ...oldDigest, facts: { ...oldDigest.facts, content: 'x' } },
  ]
  for (const one of wrong) t.notOk(v.safeParse(schema, one).success, JSON.stringify(one))
})

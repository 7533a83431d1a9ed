/** Ticks with nothing to do leave one row a job; receipts of nothing done may be pruned. */
import t from 'tap'
import { digestOf } from '../../src/base/canonical.js'
import { appendReceipt, receiptIdOf } from '../../src/shots/receipts/append.js'
import { isIdleReceipt } from '../../src/shots/receipts/idle.js'
import { idleReceipts, mayReceiptGo } from '../../src/shots/receipts/prune.js'
import {
  receiptCollections as c, type ReceiptFacts, type ShotReceipt,
} from '../../src/shots/receipts/receipt-rows.js'
import { verifyReceipts } from '../../src/shots/receipts/verify-receipts.js'
import type { View } from '../../src/state/types.js'
import { digestReceiptOf, scanFactsOf } from '../support/receipts.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

type Analysis = ReceiptFacts<'screenshot_folder_analysis'>
const analysisJob = 'screenshot_folder_analysis'
const future = '2100-01-01T00:00:00.000Z'

const analysis = (changes: Partial<Analysis> = {}): Analysis => ({
  status: 'ok', reason: null, scheduled: true, limit: 20, concurrency: 1, timeout_seconds: 120,
  scanned: 0, analyzed: 0, failed: 0, blocked: 0, skipped: 0, restored: 0, needs_reanalysis: 0,
  stale_root: 0, cost_microusd: 0, consent_id: null, duration_ms: 1, items: [], ...changes,
})

const receipt = (facts: Analysis, more: object = {}): ShotReceipt => ({
  receipt_id: 'rct_1', number: 1, previous_sha256: null, at: '2026-01-01T00:00:00.000Z',
  job: analysisJob, facts, ...more,
})

const problemsIn = (view: View): string[] => {
  const found: string[] = []
  verifyReceipts(view, (code, subject) => void found.push(`${code} ${subject}`))
  return found
}

t.test('a receipt is idle that tells of nothing done, sent, spent or gone wrong', (t) => {
  t.equal(isIdleReceipt(receipt(analysis())), true)
  t.equal(isIdleReceipt(receipt(analysis({ status: 'blocked', reason: 'proof_missing' }))), true)
  const facts = digestReceiptOf()
  const ofDigest = (changes: object): ShotReceipt =>
    ({ ...receipt(analysis()), job: facts.job, facts: { ...facts, ...changes } }) as never
  t.equal(isIdleReceipt(ofDigest({})), true)
  for (const changes of [
    { status: 'degraded' }, { written: 1 }, { updated: 1 }, { blocked: 1 }, { failed: 1 },
    { held_microusd: 1 }, { proof_renewal: {} },
    { windows: [{ outcome: 'unchanged', operation_id: 'op_1' }] },
    { windows: [{ outcome: 'written', operation_id: null }] },
  ]) t.equal(isIdleReceipt(ofDigest(changes)), false, JSON.stringify(changes))
  for (const changes of [
    { status: 'degraded' as const }, { scheduled: false }, { scanned: 1 }, { restored: 1 },
    { needs_reanalysis: 1 }, { stale_root: 1 }, { cost_microusd: 1 }, { held_microusd: 1 },
    { items: [{}] as unknown as Analysis['items'] },
    { proof_renewal: {} as NonNullable<Analysis['proof_renewal']> },
  ]) t.equal(isIdleReceipt(receipt(analysis(changes))), false, JSON.stringify(changes))
  t.equal(isIdleReceipt(receipt(analysis(), { idle: {} })), false, 'it carries ticks in')
  t.equal(isIdleReceipt(receipt(analysis(), {
    job: 'screenshot_folder_ingest', facts: scanFactsOf(),
  })), false, 'a scan that finds nothing writes none')
  t.equal(mayReceiptGo(receipt(analysis()), future, 2), true)
  t.equal(mayReceiptGo(receipt(analysis()), future, 1), false, 'the newest stays')
  t.equal(mayReceiptGo(receipt(analysis()), '2026-01-01T00:00:00.000Z', 2), false, 'too young')
  t.end()
})

t.test('what is left of removed receipts is one tombstone a gap, gaps side by side are one, and the '
  + 'chain is followed over them', async (t) => {
  const world = await World.still(t).state()
  const idle = new Set([1, 3, 4, 6])
  await world.transact((tx, now) => {
    for (let n = 1; n <= 7; n += 1) {
      appendReceipt(tx, now, analysisJob, analysis(idle.has(n) ? {} : { restored: 1 }))
    }
  })
  const all = world.view().all(c.receipts).map(({ doc }) => doc)
  const drop = (ids: readonly number[]) => world.transact((tx, now) =>
    idleReceipts.drop(tx, now, future, ids.map(receiptIdOf)))
  t.strictSame(idleReceipts.find(world.view(), future, undefined), {
    ids: [...idle].map(receiptIdOf), next: null,
  })
  t.equal(await drop([4, 2, 7]), 1, 'only what may go, also when more are named')
  t.strictSame(problemsIn(world.view()), [])
  t.equal(await drop([3, 1]), 2)
  t.equal(await drop([6, 6]), 1)
  t.strictSame(world.view().all(c.gaps), [
    [1, 1, null, 1], [3, 4, 2, 4], [6, 6, 5, 6],
  ].map(([first = 0, last = 0, from, to = 0]) => ({
    id: receiptIdOf(first ?? 0),
    doc: {
      first, last, count: (last ?? 0) - (first ?? 0) + 1,
      digest_before: from === null ? null : digestOf(all[(from ?? 0) - 1]),
      digest_after: digestOf(all[(to ?? 0) - 1]),
    },
  })))
  t.strictSame(problemsIn(world.view()), [])

  const gap = world.view().get(c.gaps, receiptIdOf(3))
  for (const [changes, text] of [
    [{ count: 3 }, 'a wrong count'], [{ last: 5, count: 3 }, 'one number too many'],
    [{ digest_after: 'a'.repeat(64) }, 'another digest behind it'],
    [{ digest_before: 'a'.repeat(64) }, 'another digest before it'],
  ] as const) {
    await world.transact((tx) => tx.put(c.gaps, receiptIdOf(3), { ...gap, ...changes } as never))
    t.ok(problemsIn(world.view()).length > 0, text)
  }
  await world.transact((tx) => tx.remove(c.gaps, receiptIdOf(3)))
  t.strictSame(problemsIn(world.view()), ['shot_receipt_chain_broken 000000000005'])
})

t.test('ticks with nothing to do renew one row a job, and the next receipt of that job carries it '
  + 'in', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const turn = () => world.run(['shots', 'run', '--once', '--json'])
  await turn()
  await turn()
  const [first] = [await turn()]
  t.equal(first.status, 0, first.stderr)
  const kept = world.view().all(c.receipts).map(({ doc }) => doc.job)
  t.notOk(kept.includes(analysisJob), 'no receipt of nothing done')
  const row = world.view().get(c.idle, analysisJob)
  t.equal(row?.ticks, 3)
  t.ok((row?.since ?? '') < (row?.last ?? ''))
  world.file('a.png', (await import('../support/shots.js')).nextImage())
  await turn()
  await turn()
  const carried = world.view().all(c.receipts).map(({ doc }) => doc)
    .find(({ job }) => job === analysisJob)
  t.strictSame(carried?.idle?.since, row?.since)
  t.ok((carried?.idle?.ticks ?? 0) >= 3)
  t.ok((world.view().get(c.idle, analysisJob)?.ticks ?? 0) < 3, 'they are counted once')
  const checked = await world.run(['state', 'check', '--json'])
  t.strictSame(checked.json().problems, [])
})

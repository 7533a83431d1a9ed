import t from 'tap'
import * as v from 'valibot'
import {
  alphaReceiptShape, buildReceipt, receiptLine, type ReceiptParts,
} from '../../src/alpha/receipt.js'
import type { RouteRecord } from '../../src/contact/routes.js'
import type { Job, LedgerRow, Reservation, Task } from '../../src/governance/rows.js'

const at = '2026-11-20T10:00:00.000Z'
const hex = (letter: string): string => letter.repeat(64)
const uuid = 'cc8b70d8-7edb-5113-a31a-bee2bfbbf194'

const task: Task = {
  task_id: 'task_1', revision: 7, kind: 'inference.alpha-text.v1', place: null, attempt: 1,
  lease_fence: 1, owner: 'prn_1', goal_id: 'goal_1',
  goal_revision: 1, original_root: 'root_1', current_root: 'root_1', input_artifact_id: 'art_1',
  idempotency_key: uuid, request_digest: hex('1'), job_id: 'job_1', operation_id: 'op_1',
  state: 'succeeded', blocked: null, reason: null, cancel_requested_at: null, lease: null,
  provenance: { face: 'cli', principal: 'prn_1', root: 'root_1' },
  purpose: {
    consent_id: 'con_1', purpose: 'alpha.text', revision: 3, root: 'root_1', expires_at: at,
  },
  deadline_at: at, budget_left_ms: 1_000, review: 'none', done_at: null,
  result_artifact_id: 'art_2', recovered: [], created_at: at, updated_at: at,
}
const job: Job = {
  job_id: 'job_1', task_id: 'task_1', attempt: 1, attempt_id: 'att_1', request_id: 'req_1',
  operation_id: 'op_1', receipt: null, progress: {}, created_at: at, updated_at: at,
}
const route: RouteRecord = {
  operation_id: 'op_1', runtime: 'alpha_text_native', profile: 'alpha.text', provider: 'p',
  model: 'fixed/model-1', url: 'https://p.example/v1/chat/completions', decision_id: 'dec_1',
  policy_revision: 3, contacted_at: at, outcome: 'settled',
}
const reservation: Reservation = {
  operation_id: 'op_1', runtime: 'alpha_text_native', profile: 'alpha.text', task_id: 'task_1',
  principal: 'prn_1', bound_microusd: 5_000, state: 'settled', charged_microusd: 7,
  overrun: 'none', row_ids: ['row_1', 'row_2', 'row_3'], updated_at: at,
}
const settlement: LedgerRow = {
  row_id: 'row_3', ledger_id: 'led_1', operation_id: 'op_1', kind: 'settle',
  runtime: 'alpha_text_native', profile: 'alpha.text', amount_microusd: 7, evidence: {},
  previous_row_id: 'row_2', created_at: at,
}
const parts: ReceiptParts = {
  task, job, route, reservation, settlement,
  provider: { name: 'p', base_url: 'https://p.example/v1', model_id: 'fixed/model-1' },
  inputDigest: hex('a'), outputDigest: hex('b'), policy: { revision: 3, sha256: hex('c') },
  billingUuid: uuid,
  finishReason: null,
}
const unsettled = (state: Reservation['state']): Partial<ReceiptParts> => ({
  reservation: { ...reservation, state, charged_microusd: null }, settlement: null,
})

t.test('A-105 A-109 A-110 A-111 A-112 A-113 A-114 A-115 a success receipt is exactly this',
  async (t) => {
    t.strictSame(buildReceipt(parts), {
      schema: 'svc.alpha.text.receipt.v1',
      task_id: 'task_1',
      attempt_id: 'att_1',
      job_id: 'job_1',
      request_id: 'req_1',
      operation_id: 'op_1',
      provider: 'p',
      profile: 'alpha.text',
      model: 'fixed/model-1',
      tls_transport: true,
      tee_verified: false,
      e2ee: false,
      input_digest: hex('a'),
      output_digest: hex('b'),
      policy_digest: hex('c'),
      policy_revision: 3,
      provider_billing_uuid: uuid,
      cost: {
        source: 'provider_billing_costs', amount_microusd: 7, state: 'settled',
        ledger_ref: 'row_3',
      },
      no_learning: true,
      result_artifact_id: 'art_2',
    })
  })

t.test('A-115 no receipt but that of a success refers to a result', async (t) => {
  const others = ['accepted', 'queued', 'running', 'blocked', 'failed', 'cancelled'] as const
  for (const state of others) {
    const receipt = buildReceipt({ ...parts, task: { ...task, state } })
    t.notOk('result_artifact_id' in receipt, state)
    t.equal(receipt.output_digest, null, state)
  }
  const receipt = buildReceipt(parts)
  t.notOk(v.is(alphaReceiptShape, { ...receipt, output_digest: null }))
  t.notOk(v.is(alphaReceiptShape, { ...receipt, result_artifact_id: undefined }))
  t.throws(() => buildReceipt({ ...parts, task: { ...task, result_artifact_id: null } }),
    new TypeError('a succeeded task has a result'))
})

t.test('A-106 the receipt is closed: nothing else can be put into it', async (t) => {
  const receipt = buildReceipt(parts)
  t.ok(v.is(alphaReceiptShape, receipt))
  for (const extra of [{ question: 'q' }, { answer: 'a' }, { body: '' }, { key: '' }]) {
    t.notOk(v.is(alphaReceiptShape, { ...receipt, ...extra }))
  }
  t.notOk(v.is(alphaReceiptShape, { ...receipt, tee_verified: true }))
  t.notOk(v.is(alphaReceiptShape, { ...receipt, e2ee: true }))
  t.notOk(v.is(alphaReceiptShape, { ...receipt, provider_billing_uuid: uuid.toUpperCase() }))
})

t.test('A-113 the cost follows the ledger: state, amount, source and row', async (t) => {
  for (const state of ['reserved', 'contacted', 'released', 'unknown'] as const) {
    const failed = { ...task, state: 'failed' as const }
    t.strictSame(buildReceipt({ ...parts, task: failed, ...unsettled(state) }).cost,
      { source: null, amount_microusd: null, state, ledger_ref: 'row_3' })
  }
  const manual = { ...settlement, kind: 'manual_settle' as const, row_id: 'row_4' }
  t.strictSame(buildReceipt({ ...parts, settlement: manual }).cost, {
    source: 'manual_operator_settlement', amount_microusd: 7, state: 'settled',
    ledger_ref: 'row_4',
  })
  const never = { ...task, state: 'cancelled' as const }
  t.strictSame(
    buildReceipt({ ...parts, task: never, reservation: null, settlement: null }).cost,
    { source: null, amount_microusd: null, state: 'none', ledger_ref: null })
  const zero = { ...reservation, charged_microusd: 0 }
  t.equal(buildReceipt({ ...parts, reservation: zero }).cost.amount_microusd, 0)
})

t.test('a receipt never tells the money of another operation', async (t) => {
  t.throws(() => buildReceipt({
    ...parts, reservation: { ...reservation, operation_id: 'op_2' },
  }), new TypeError('a receipt tells the money of its own operation only'))
  t.throws(() => buildReceipt({ ...parts, settlement: { ...settlement, operation_id: 'op_2' } }),
    new TypeError('a receipt tells the money of its own operation only'))
})

t.test('without a contact the receipt names the sealed provider and no billing UUID', async (t) => {
  const receipt = buildReceipt({
    ...parts, task: { ...task, state: 'cancelled' }, route: null, reservation: null,
    settlement: null, billingUuid: null,
  })
  t.hasStrict(receipt, { provider: 'p', model: 'fixed/model-1', provider_billing_uuid: null })
})

t.test('the line for a terminal is one line and tells the charge', async (t) => {
  const line = receiptLine(buildReceipt(parts))
  t.notMatch(line, /\n/)
  t.match(line, /task_1.*\$0\.000007 \(7 µUSD\).*no attestation/)
  const blocked = { ...task, state: 'blocked' as const }
  t.match(receiptLine(buildReceipt({ ...parts, task: blocked, ...unsettled('unknown') })),
    /cost unknown.*billing cc8b70d8/)
})

t.test('a settled charge without its row or amount gives no receipt', async (t) => {
  t.throws(() => buildReceipt({ ...parts, settlement: null }),
    new TypeError('a settled charge has its ledger row'))
  const amountless = { ...reservation, charged_microusd: null }
  t.throws(() => buildReceipt({ ...parts, reservation: amountless }), { name: 'ValiError' })
  const bare = { ...reservation, state: 'unknown' as const, charged_microusd: null, row_ids: [] }
  const blocked = { ...task, state: 'blocked' as const }
  const receipt = buildReceipt({
    ...parts, task: blocked, reservation: bare, settlement: null, billingUuid: null,
  })
  t.equal(receipt.cost.ledger_ref, null)
  t.match(receiptLine(receipt), /billing none/)
})

t.test('A-106 the receipt and its line tell an answer that was cut off', async (t) => {
  for (const [finishReason, told] of [
    ['length', /cut off at the longest length/], ['content_filter', /cut off by the provider/],
  ] as const) {
    const receipt = buildReceipt({ ...parts, finishReason })
    t.equal(receipt.finish_reason, finishReason)
    t.match(receiptLine(receipt), told)
  }
  t.notMatch(receiptLine(buildReceipt({ ...parts, finishReason: 'stop' })), /cut off/)
})

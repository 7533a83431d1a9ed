import t from 'tap'
import fc from 'fast-check'
import * as v from 'valibot'
import {
  billingEvidenceShape, billingReasons, buildBillingEvidence, judgeBilling, microFromNano,
  noBillingReply, type BillingVerdict,
} from '../../src/alpha/billing.js'
import {
  asProviderReply, goodBillingReply, tableUuid, type RawReply,
} from '../support/alpha/hostile-replies.js'
import { sha256 } from '../support/sha256.js'

const judge = (raw: RawReply, earlier: readonly BillingVerdict[] = []): BillingVerdict =>
  judgeBilling(asProviderReply(raw), { uuid: tableUuid, earlier })
const body = (text: string): RawReply =>
  ({ status: 200, headers: [['content-type', 'application/json']], body: Buffer.from(text) })
const entryText = (members: string): RawReply =>
  body(`{"requests":[{"requestId":"${tableUuid}"${members}}]}`)
const cost = (lexeme: string): RawReply => entryText(`,"costNanoUsd":${lexeme}`)
const firstZero: BillingVerdict = { kind: 'no_verdict', reason: 'cost_zero_unconfirmed' }
const settles = (verdict: BillingVerdict): boolean => verdict.kind === 'cost'

t.test('A-141 exactly one matching entry settles', async (t) => {
  t.hasStrict(judge(goodBillingReply(1_500)), { kind: 'cost', nanoUsd: 1_500, microUsd: 2 })
  const entry = `{"requestId":"${tableUuid}","costNanoUsd":5}`
  for (const entries of ['', `${entry},${entry}`, `${entry},{}`, `${entry},null`]) {
    t.notOk(settles(judge(body(`{"requests":[${entries}]}`))), entries.slice(-30))
  }
})

t.test('A-142 a cost that is not an integer of the range never settles', async (t) => {
  t.hasStrict(judge(cost('0'), [firstZero]), { kind: 'cost', nanoUsd: 0, microUsd: 0 })
  t.hasStrict(judge(cost('1000000000000')), { kind: 'cost', microUsd: 1_000_000_000 })
  for (const lexeme of ['-1', '1000000000001', '1.5', '"1"', 'true', 'null', '1.0', '1e3', '-0',
    '01', '0x1', '1e999', '9007199254740993', '[1]', '{}']) {
    t.notOk(settles(judge(cost(lexeme), [firstZero])), lexeme)
  }
})

t.test('A-149 the requestId may be in upper case, and in no other spelling', async (t) => {
  const named = (id: string): BillingVerdict =>
    judge(body(JSON.stringify({ requests: [{ requestId: id, costNanoUsd: 5 }] })))
  t.ok(settles(named(tableUuid.toUpperCase())))
  for (const id of [`{${tableUuid}}`, `urn:uuid:${tableUuid}`, ` ${tableUuid}`, `${tableUuid}\n`,
    tableUuid.replaceAll('-', '')]) {
    t.strictSame(named(id), { kind: 'violation', reason: 'request_id' }, id)
  }
})

t.test('A-151 a warning must be absent, null or empty', async (t) => {
  for (const warning of ['', ',"warning":null', ',"warning":""']) {
    t.ok(settles(judge(entryText(`,"costNanoUsd":5${warning}`))), warning)
  }
  for (const warning of ['"x"', '" "', '0', 'false', '[]', '{}', '1.5', 'true']) {
    t.strictSame(judge(entryText(`,"costNanoUsd":5,"warning":${warning}`)),
      { kind: 'violation', reason: 'warning' }, warning)
  }
})

t.test('A-152 micro-USD is the ceiling of nano-USD over 1000, exactly', async (t) => {
  const pairs = [[0, 0], [1, 1], [999, 1], [1_000, 1], [1_001, 2], [999_999_999_999, 1_000_000_000],
    [1_000_000_000_000, 1_000_000_000]] as const
  for (const [nano, micro] of pairs) t.equal(microFromNano(nano), micro, `${nano}`)
  fc.assert(fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (nano) =>
    BigInt(microFromNano(nano)) === (BigInt(nano) + 999n) / 1000n))
})

t.test('A-176 no entry, two entries and another entry give no charge', async (t) => {
  const entry = `{"requestId":"${tableUuid}","costNanoUsd":5}`
  t.equal(judge(body('{"requests":[]}')).kind, 'no_verdict')
  t.equal(judge(body(`{"requests":[${entry},${entry}]}`)).kind, 'violation')
  const foreign = entry.replace(tableUuid, 'cc8b70d8-7edb-5113-a31a-bee2bfbbf194')
  t.strictSame(judge(body(`{"requests":[${foreign}]}`)),
    { kind: 'violation', reason: 'request_id' })
})

t.test('A-177 an invalid cost and a warning are definite: no second attempt', async (t) => {
  for (const raw of [cost('-1'), cost('1000000000001'), cost('1.5'), cost('true'),
    entryText(',"costNanoUsd":5,"warning":"x"')]) {
    t.equal(judge(raw).kind, 'violation')
  }
})

t.test('A-187 no cost beyond the range wraps, rounds or saturates', async (t) => {
  fc.assert(fc.property(fc.bigInt({ min: 1_000_000_000_001n, max: 10n ** 40n }), (huge) =>
    judge(cost(String(huge))).kind === 'violation' &&
    judge(cost(`-${String(huge)}`)).kind === 'violation'))
  t.ok(settles(judge(cost('1000000000000'))))
})

t.test('A-202 A-203 a billing reply of 16385 raw bytes gives no charge', async (t) => {
  const text = goodBillingReply(5).body.toString()
  t.ok(settles(judge(body(text.padEnd(16_384)))))
  t.strictSame(judge(body(text.padEnd(16_385))), { kind: 'violation', reason: 'oversize' })
})

t.test('A-204 the recorded charge is the billed one, whole, and from nothing else', async (t) => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 1_000_000_000_000 }), (nano) => {
    const verdict = judge(entryText(`,"costNanoUsd":${nano},"usage":{"total_tokens":7}`))
    return verdict.kind === 'cost' && verdict.nanoUsd === nano
  }))
  t.equal(judge(entryText(',"usage":{"cost":1,"total_tokens":7}')).kind, 'violation')
})

t.test('a cost of 0 is believed only after another 0', async (t) => {
  t.strictSame(judge(cost('0')), firstZero)
  t.strictSame(judge(cost('0'), [noBillingReply]), firstZero)
  t.strictSame(judge(cost('0'), [{ kind: 'no_verdict', reason: 'no_entry' }]), firstZero)
  t.hasStrict(judge(cost('0'), [firstZero]), { kind: 'cost', nanoUsd: 0 })
  t.hasStrict(judge(cost('7'), [firstZero]), { kind: 'cost', nanoUsd: 7 })
})

const evidenceOf = (raw: RawReply): unknown => {
  const verdict = judge(raw)
  if (verdict.kind !== 'cost') throw new Error('no charge')
  return buildBillingEvidence({
    operationId: 'op_1', billingUuid: tableUuid, cost: verdict, attempt: 1,
  })
}

t.test('each reply without a charge says why', async (t) => {
  const entry = `{"requestId":"${tableUuid}","costNanoUsd":5}`
  const reasons: readonly (readonly [RawReply, string])[] = [
    [{ ...cost('5'), headers: [['content-type', 'text/event-stream']] }, 'event_stream'],
    [{ ...cost('5'), headers: [['content-encoding', 'gzip']] }, 'content_encoding'],
    [body('{"requests":[7]}'), 'entry_malformed'],
    [body('{"requests":[null]}'), 'entry_malformed'],
    [body('{"requests":{}}'), 'envelope'],
    [body(`{"requests":[${entry},${entry}]}`), 'entry_count'],
    [entryText(''), 'cost_missing'],
    [cost('null'), 'cost_not_integer'],
    [cost('1.5'), 'cost_not_integer'],
  ]
  for (const [raw, reason] of reasons) {
    t.strictSame(judge(raw), { kind: 'violation', reason }, raw.body.toString())
  }
})

t.test('A-116 evidence binds operation, UUID, source, amounts and the raw reply', async (t) => {
  const raw = goodBillingReply(1_001)
  t.strictSame(evidenceOf(raw), {
    schema: 'svc.alpha.text.billing_evidence.v1',
    operation_id: 'op_1',
    billing_uuid: tableUuid,
    source: 'provider_billing_costs',
    cost_nano_usd: 1_001,
    cost_microusd: 2,
    response_sha256: sha256(raw.body),
    attempt: 1,
  })
})

t.test('A-116 evidence names the reply by a whole digest and by nothing else', async (t) => {
  const of = (sha256: string) => () => buildBillingEvidence({
    operationId: 'op_1', billingUuid: tableUuid, attempt: 1,
    cost: { kind: 'cost', nanoUsd: 1_000, microUsd: 1, sha256 },
  })
  const digest = 'a'.repeat(64)
  t.doesNotThrow(of(digest))
  for (const other of ['', `x${digest}`, `${digest}a`, digest.slice(1), 'A'.repeat(64)]) {
    t.throws(of(other), { name: 'ValiError' }, other)
  }
})

t.test('A-118 evidence of another source, or with a usage field, is not evidence', async (t) => {
  const evidence = evidenceOf(goodBillingReply(1_001)) as Record<string, unknown>
  t.ok(v.is(billingEvidenceShape, evidence))
  for (const change of [{ source: 'gateway_usage_cost' }, { source: 'manual_operator_settlement' },
    { usage: {} }, { tokens: 1 }, { cost_microusd: 1 }, { cost_nano_usd: 1.5 },
    { billing_uuid: tableUuid.toUpperCase() }, { response_sha256: 'x' }, { attempt: 3 },
    { operation_id: 'o'.repeat(257) }, { operation_id: '' }]) {
    t.notOk(v.is(billingEvidenceShape, { ...evidence, ...change }), JSON.stringify(change))
  }
})

t.test('mutating a billing reply never settles another amount than its text says', async (t) => {
  const text = goodBillingReply(1_500).body.toString()
  const digitsAt = text.indexOf('1500')
  const piece = fc.oneof(fc.string({ maxLength: 3 }),
    fc.constantFrom('"', '\\', ',', ':', '{', '}', '[', ']', '-', '.', 'e', '0', 'null'))
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(3), piece, (at, drop, put) => {
      fc.pre(at + drop < digitsAt || at > digitsAt + 4)
      const verdict = judge(body(text.slice(0, at) + put + text.slice(at + drop)))
      return verdict.kind === 'cost' ? verdict.nanoUsd === 1_500
        : Object.keys(verdict).length === 2 && Object.hasOwn(billingReasons, verdict.reason)
    }),
    { numRuns: 3_000 },
  )
  t.ok(settles(judge(body(text))))
})

t.test('any bytes and status give a verdict and never a throw', async (t) => {
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 100 }), fc.json().map((s) => Buffer.from(s)))
  const status = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 }))
  fc.assert(fc.property(status, bytes, (code, data) =>
    !settles(judge({ status: code, headers: [], body: Buffer.from(data) }))), { numRuns: 1_000 })
  t.ok(settles(judge(goodBillingReply(1))))
})

t.test('a good bill under another status, behind a redirect or encoded is no bill, and told as that', async (t) => {
  const good = goodBillingReply(1_500)
  const reasonOf = (raw: RawReply): string => {
    const verdict = judge(raw)
    return verdict.kind === 'cost' ? 'settled' : verdict.reason
  }
  t.equal(reasonOf(good), 'settled')
  for (const status of [201, 204, 400, 404, 500]) {
    t.equal(reasonOf({ ...good, status }), 'http_status', String(status))
  }
  t.equal(reasonOf({ ...good, status: 307 }), 'redirect')
  const headers: RawReply['headers'] = [...good.headers, ['content-encoding', 'gzip']]
  t.equal(reasonOf({ ...good, headers }), 'content_encoding')
})

import t from 'tap'
import { billingReasons, judgeBilling, type BillingVerdict } from '../../src/alpha/billing.js'
import { completionReasons, judgeCompletion } from '../../src/alpha/completion.js'
import {
  asProviderReply, bodyMarker, hostileBillings, hostileCompletions, hostileReplies, tableBodyId,
  tableUuid, type HostileBilling, type HostileCompletion,
} from '../support/alpha/hostile-replies.js'

const model = 'fixed/model-1'

const billTwice = ({ reply }: HostileBilling): readonly BillingVerdict[] => {
  const raw = asProviderReply(reply)
  const first = judgeBilling(raw, { uuid: tableUuid, earlier: [] })
  if (first.kind !== 'no_verdict') return [first]
  return [first, judgeBilling(raw, { uuid: tableUuid, earlier: [first] })]
}

const named = (pattern: RegExp): readonly HostileCompletion[] =>
  hostileCompletions(model).filter(({ name }) => pattern.test(name))

t.test('the table is large, and every row has a name of its own', async (t) => {
  const names = hostileReplies(model).map(({ name }) => name)
  t.ok(names.length >= 140, `${names.length} rows`)
  t.equal(new Set(names).size, names.length)
  const reasons = new Set(hostileReplies(model).map(({ expected }) =>
    ('reason' in expected ? expected.reason : null)))
  const all = [...Object.keys(completionReasons), ...Object.keys(billingReasons)]
  t.strictSame(
    all.filter((reason) => !reasons.has(reason as never)).sort(),
    // A transport failure has no reply to put into a table; 0 is confirmed by the second 0.
    ['cost_zero_unconfirmed', 'transport'],
    'every other reason of both judges occurs',
  )
})

for (const row of hostileCompletions(model)) {
  t.test(row.name, async (t) => {
    const verdict = judgeCompletion(asProviderReply(row.reply), { model })
    if (row.expected.ok) {
      t.hasStrict(verdict, { ok: true, answer: row.expected.answer, bodyId: tableBodyId })
      t.equal(verdict.billingUuid, tableUuid)
      return
    }
    t.strictSame(verdict, {
      ok: false,
      reason: row.expected.reason,
      billingUuid: row.expected.task === 'failed' ? tableUuid : null,
    })
    t.notMatch(JSON.stringify(verdict), bodyMarker)
  })
}

for (const row of hostileBillings()) {
  t.test(row.name, async (t) => {
    const verdicts = billTwice(row)
    const last = verdicts.at(-1)
    t.equal(verdicts.length, row.expected.posts, 'attempts')
    if (row.expected.kind === 'cost') {
      const { nanoUsd, microUsd } = row.expected
      t.matchStrict(last, { kind: 'cost', nanoUsd, microUsd, sha256: /^[0-9a-f]{64}$/ })
    } else {
      t.strictSame(last, { kind: row.expected.kind, reason: row.expected.reason })
    }
    t.notMatch(JSON.stringify(verdicts), bodyMarker)
  })
}

/** One requirement, every row of the table that tests it. */
const holds = (title: string, pattern: RegExp, outcome: 'rejected' | 'accepted'): void => {
  t.test(title, async (t) => {
    const rows = named(pattern)
    t.ok(rows.length > 0, 'rows exist')
    for (const row of rows) {
      const verdict = judgeCompletion(asProviderReply(row.reply), { model })
      t.equal(verdict.ok, outcome === 'accepted', row.name)
    }
  })
}

holds('A-018 an event stream is never taken for an answer', /event stream/, 'rejected')
holds('A-022 no reply with other than one choice gives an answer', /: choices /, 'rejected')
holds('A-024 a redirect is rejected, whatever stands in its body', /: redirect /, 'rejected')
holds('A-147 a malformed or differing inference-id gives no answer',
  /: inference-id (?!$)/, 'rejected')
holds('A-150 x-request-id changes nothing', /: x-request-id/, 'accepted')
holds('A-171 a compressed reply is rejected without decoding',
  /content-encoding (gzip|br|deflate)/, 'rejected')
holds('A-172 malformed JSON is rejected',
  /truncated JSON|plain text|HTML|two documents/, 'rejected')
holds('A-173 another or no model is rejected', /: model /, 'rejected')
holds('A-174 tool and function calls are rejected', /(tool|function) call/, 'rejected')
holds('A-175 output that is not assistant text is rejected',
  /: (role|content) (?!type)/, 'rejected')

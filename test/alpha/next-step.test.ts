import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import fc from 'fast-check'
import type { BillingVerdict } from '../../src/alpha/billing.js'
import { completionReasons, type CompletionReason, type CompletionVerdict } from
  '../../src/alpha/completion.js'
import {
  billingStageMs, decideFinish, inferenceTimeoutMs, nextBillingStep, type BillingCost, type Finish,
  type FinishFacts,
} from '../../src/alpha/next-step.js'

const uuid = 'cc8b70d8-7edb-5113-a31a-bee2bfbbf194'
const bound = 5_000
const costOf = (microUsd: number): BillingCost =>
  ({ kind: 'cost', nanoUsd: microUsd * 1_000, microUsd, sha256: 'a'.repeat(64) })
const answered: CompletionVerdict =
  { ok: true, answer: 'x', bodyId: 'i', billingUuid: uuid, finish: 'stop' }
const rejected = (reason: CompletionReason, billingUuid: string | null): CompletionVerdict =>
  ({ ok: false, reason, billingUuid })

/** Every end of the inference, every cost, every authority, cancelled or not. */
const ends: readonly (readonly [string, FinishFacts['inference']])[] = [
  ['not contacted',
    { kind: 'unsent', reason: 'provider_unreachable', errorKind: 'remote' }],
  ['too late to contact',
    { kind: 'unsent', reason: 'deadline_passed', errorKind: 'locked' }],
  ['no reply', { kind: 'sent', reason: 'timeout' }],
  ['good reply', { kind: 'reply', verdict: answered }],
  ...Object.keys(completionReasons).flatMap((reason) => [uuid, null].map((id) => [
    `rejected ${reason} ${id === null ? 'nameless' : 'named'}`,
    { kind: 'reply', verdict: rejected(reason as CompletionReason, id) },
  ] as const)),
]
const costs = [null, costOf(0), costOf(1), costOf(bound), costOf(bound + 1), costOf(1_000_000_000)]
const authorities = [null, 'consent_not_current', 'root_ended', 'policy_revoked', 'goal_changed']

interface Case { readonly name: string; readonly facts: FinishFacts; readonly end: Finish }
const table: readonly Case[] = ends.flatMap(([name, inference]) =>
  costs.flatMap((cost) => authorities.flatMap((authorityLost) =>
    [false, true].flatMap((cancelRequested) => [false, true].flatMap((suspended) =>
      [false, true].map((unstored) => {
        const facts = {
          inference, cost, boundMicrousd: bound, authorityLost, cancelRequested, suspended,
          unstored,
        }
        const label = `${name}, cost ${cost?.microUsd ?? 'none'}, ${authorityLost ?? 'current'}, ` +
          `cancel ${cancelRequested}, suspended ${suspended}, unstored ${unstored}`
        return { name: label, facts, end: decideFinish(facts) }
      }))))))

const uncontacted = ({ facts }: Case): boolean => facts.inference.kind === 'unsent'
const isNamed = ({ facts }: Case): boolean =>
  facts.inference.kind === 'reply' && facts.inference.verdict.billingUuid !== null
const isUnknown = (c: Case): boolean =>
  !uncontacted(c) && (c.facts.cost === null || !isNamed(c))

/** Holds the cases that `match` picks to `rule`, and names those that break it. */
const each = (title: string, match: (c: Case) => boolean, rule: (c: Case) => boolean): void => {
  t.test(title, async (t) => {
    const cases = table.filter(match)
    t.ok(cases.length > 0, `${cases.length} cases`)
    t.strictSame(cases.filter((c) => !rule(c)).map((c) => c.name), [])
  })
}
const isDeep = (found: unknown, wanted: unknown): boolean => isDeepStrictEqual(found, wanted)
const overruns = (c: Case): boolean => (c.facts.cost?.microUsd ?? 0) > bound
const undisturbed = (c: Case): boolean => !c.facts.cancelRequested && c.facts.authorityLost === null
const verdictOf = (c: Case): CompletionVerdict | null =>
  c.facts.inference.kind === 'reply' ? c.facts.inference.verdict : null
const isAnswered = (c: Case): boolean => verdictOf(c)?.ok === true && c.facts.cost !== null

t.test('the table is whole', async (t) => {
  t.equal(table.length, ends.length * costs.length * authorities.length * 2 * 2 * 2)
  t.equal(new Set(table.map((c) => c.name)).size, table.length)
})

each('a hold is given back exactly when no request byte left', () => true,
  (c) => (c.end.ledger === 'release') === uncontacted(c))

each('A-122 A-124 an unknown charge blocks the task and keeps the liability, also when cancelled',
  isUnknown, (c) => c.end.ledger === 'unknown' && isDeep(c.end.task, {
    state: 'blocked', kind: 'cost_liability', reason: 'alpha_cost_readback_required',
  }))

each('what was not charged, or nobody knows the charge of, is told as no overrun',
  (c) => uncontacted(c) || isUnknown(c), ({ end }) => !end.overrun)

each('A-125 A-126 an unknown charge drops the answer', isUnknown,
  ({ end }) => !end.adopt && end.answer === 'drop' && end.errorKind === 'blocked')

each('every known charge settles, whatever becomes of the answer',
  (c) => !uncontacted(c) && !isUnknown(c),
  (c) => c.end.ledger === 'settle' && c.end.overrun === overruns(c))

each('an answer is adopted in exactly one situation', () => true, (c) => {
  const all = verdictOf(c)?.ok === true && c.facts.cost !== null && !overruns(c)
    && undisturbed(c) && !c.facts.suspended && !c.facts.unstored
  return c.end.adopt === all && (c.end.answer === 'adopt') === all &&
    (c.end.task.state === 'succeeded') === all && (c.end.errorKind === null) === all
})

each('A-127 A-128 an overrun holds the answer back for the review; the bound itself does not',
  (c) => isAnswered(c) && undisturbed(c) && !c.facts.unstored,
  (c) => overruns(c)
    ? c.end.overrun && c.end.ledger === 'settle' && c.end.answer === 'hold' && !c.end.adopt &&
      c.end.errorKind === 'blocked' && isDeep(c.end.task, {
      state: 'blocked', kind: 'cost_overrun', reason: 'alpha_overrun_review_required',
    })
    : c.end.adopt === !c.facts.suspended && !c.end.overrun)

each('A-168 A-184 a save in between holds an answer within its bound, and only that',
  (c) => c.facts.suspended && isAnswered(c) && !overruns(c) && !c.facts.unstored,
  (c) => isDeep(c.end.task, {
    state: 'blocked', kind: 'answer_held', reason: 'alpha_save_in_between',
  }) === undisturbed(c) && (c.end.answer === 'hold') === undisturbed(c) && !c.end.adopt
    && c.end.ledger === 'settle')

each('A-168 with authority gone nothing is adopted or held', (c) => c.facts.authorityLost !== null,
  ({ end, facts }) => end.answer === 'drop' && !end.adopt && end.task.state !== 'succeeded' &&
    (end.task.state !== 'failed' || end.task.reason === facts.authorityLost))

each('an answer that the disk did not take is lost for that, where nothing else has lost it',
  (c) => c.facts.unstored && isAnswered(c) && undisturbed(c), (c) =>
    isDeep(c.end.task, { state: 'failed', reason: 'answer_not_stored' }) && !c.end.adopt &&
    c.end.answer === 'drop' && c.end.errorKind === (overruns(c) ? 'blocked' : 'failed'))

each('A-183 a cancel drops the answer and is the ending unless the charge is unknown',
  (c) => c.facts.cancelRequested,
  (c) => c.end.answer === 'drop' && c.end.task.state === (isUnknown(c) ? 'blocked' : 'cancelled'))

each('a cancel with a known charge is told as one, and as money that waits above the bound',
  (c) => c.facts.cancelRequested && !uncontacted(c) && !isUnknown(c),
  (c) => c.end.errorKind === (overruns(c) ? 'blocked' : 'cancelled'))

each('a rejected reply with a known charge fails under its reason',
  (c) => isNamed(c) && c.facts.cost !== null && undisturbed(c) && verdictOf(c)?.ok === false,
  (c) => {
    const verdict = verdictOf(c)
    const reason = verdict?.ok === false ? `completion_${verdict.reason}` : ''
    return isDeep(c.end.task, { state: 'failed', reason }) &&
      c.end.errorKind === (overruns(c) ? 'blocked' : 'remote')
  })

each('an ask that was never sent fails for its own reason',
  (c) => uncontacted(c) && undisturbed(c), ({ end, facts: { inference } }) =>
    inference.kind === 'unsent' && end.errorKind === inference.errorKind &&
    isDeep(end.task, { state: 'failed', reason: inference.reason }) && end.answer === 'drop')

t.test('A-195 the inference gets the least of setting, 45 s and what is left', async (t) => {
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 30, remainingMs: 120_000 }), 30_000)
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 45, remainingMs: 120_000 }), 45_000)
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 60, remainingMs: 120_000 }), 45_000)
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 45, remainingMs: 8_000.9 }), 8_000)
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 2.5, remainingMs: 120_000 }), 2_500)
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 45, remainingMs: 999 }), null)
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 45, remainingMs: -5 }), null)
  t.equal(inferenceTimeoutMs({ timeoutSeconds: 1, remainingMs: 120_000 }), 1_000)
})

const cost = costOf(7)
const notYet: BillingVerdict = { kind: 'no_verdict', reason: 'no_entry' }
const violation: BillingVerdict = { kind: 'violation', reason: 'warning' }
const step = (verdicts: readonly BillingVerdict[], stageLeftMs = 15_000) =>
  nextBillingStep({ verdicts, stageLeftMs })

t.test('A-140 A-194 the billing stage has at most 15 s and never more than is left', async (t) => {
  t.equal(billingStageMs(120_000), 15_000)
  t.equal(billingStageMs(4_000.7), 4_000)
  t.equal(billingStageMs(-1), 0)
  const first = step([])
  t.hasStrict(first, { kind: 'post', attempt: 1, pauseMs: 0, timeoutMs: 7_000 })
  t.hasStrict(step([notYet], 8_000), { kind: 'post', attempt: 2, pauseMs: 1_000, timeoutMs: 7_000 })
  fc.assert(fc.property(fc.integer({ min: -10, max: 200_000 }), (left) => {
    const stage = billingStageMs(left)
    const one = step([], stage)
    if (one.kind !== 'post') return stage < 50
    const rest = stage - one.timeoutMs
    const two = step([notYet], rest)
    const used = two.kind === 'post' ? two.pauseMs + two.timeoutMs : 0
    return one.timeoutMs + used <= Math.min(15_000, left) && rest >= 0
  }))
})

t.test('A-136 never a third attempt, and none after a verdict', async (t) => {
  t.strictSame(step([cost]), { kind: 'settle', cost })
  t.strictSame(step([notYet, cost]), { kind: 'settle', cost })
  t.strictSame(step([violation]), { kind: 'unknown', reason: 'warning' })
  t.strictSame(step([notYet, violation]), { kind: 'unknown', reason: 'warning' })
  t.strictSame(step([notYet, notYet]), { kind: 'unknown', reason: 'no_entry' })
  fc.assert(fc.property(
    fc.array(fc.constantFrom(notYet, violation, cost), { minLength: 2, maxLength: 5 }),
    (verdicts) => step(verdicts).kind !== 'post',
  ))
})

t.test('A-139 the second attempt waits one second from the end of the first', async (t) => {
  t.hasStrict(step([notYet], 3_000), { kind: 'post', pauseMs: 1_000, timeoutMs: 2_000 })
  t.hasStrict(step([notYet], 1_050), { kind: 'post', timeoutMs: 50 }, 'exactly enough')
  t.hasStrict(step([], 1_100), { kind: 'post', timeoutMs: 50 }, 'half is exactly enough')
  t.strictSame(step([notYet], 1_049), { kind: 'unknown', reason: 'no_entry' })
  t.strictSame(step([notYet], 0), { kind: 'unknown', reason: 'no_entry' })
  t.strictSame(step([], 49), { kind: 'unknown', reason: 'deadline_passed' })
  t.hasStrict(step([], 600), { kind: 'post', attempt: 1, timeoutMs: 600 })
})

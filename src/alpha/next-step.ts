import type { ErrorKind } from '../base/errors.js'
import type { Outcome, Unsent } from '../contact/order.js'
import {
  alphaLimits, answerHeld, answerNotStored, costLiability, costOverrun,
} from './constants.js'
import type { BillingVerdict } from './billing.js'
import type { CompletionVerdict } from './completion.js'

/**
 * What an ask does next, as pure functions over what is already known. Nothing here waits,
 * contacts or writes. Three invariants:
 * 1. a liability is given back only on proof that no request byte left;
 * 2. an unknown charge beats every other ending, a cancel included;
 * 3. an answer is adopted only when charge, authority and the wish to have it all still stand.
 */

/** Milliseconds the inference may take, or null when too little is left to start one. */
export const inferenceTimeoutMs = (args: {
  /** The setup's `timeout_seconds` at contact. */
  readonly timeoutSeconds: number
  /** What is left of the operation's original 120 s. */
  readonly remainingMs: number
}): number | null => {
  const ms = Math.floor(
    Math.min(args.timeoutSeconds * 1_000, alphaLimits.inferenceMsMax, args.remainingMs),
  )
  return ms >= alphaLimits.inferenceMsMin ? ms : null
}

/** Milliseconds of the whole billing stage, within the original deadline. */
export const billingStageMs = (remainingMs: number): number =>
  Math.max(0, Math.floor(Math.min(alphaLimits.billingStageMsMax, remainingMs)))

/** The next move of the billing stage. */
type BillingStep =
  | {
    readonly kind: 'post'
    readonly attempt: 1 | 2
    /** Milliseconds to wait before it, from the end of the attempt before. */
    readonly pauseMs: number
    readonly timeoutMs: number
  }
  | { readonly kind: 'settle'; readonly cost: BillingCost }
  | { readonly kind: 'unknown'; readonly reason: string }

/** A definite charge out of one billing reply. */
export type BillingCost = Extract<BillingVerdict, { kind: 'cost' }>

/**
 * Decides after each billing attempt: settle, post once more, or give up as unknown
 * . `verdicts` are those of the attempts made, oldest first.
 * `stageLeftMs` is what is left of the billing stage now, at the end of the last attempt. The
 * first attempt may use only half of it, so that a hanging first reply leaves room for a second.
 */
export const nextBillingStep = (args: {
  readonly verdicts: readonly BillingVerdict[]
  readonly stageLeftMs: number
}): BillingStep => {
  const { verdicts, stageLeftMs } = args
  const last = verdicts.at(-1)
  if (last?.kind === 'cost') return { kind: 'settle', cost: last }
  if (last?.kind === 'violation') return { kind: 'unknown', reason: last.reason }
  if (verdicts.length >= alphaLimits.billingPostsMax) {
    return { kind: 'unknown', reason: last?.reason ?? 'no_attempt' }
  }
  const pauseMs = last === undefined ? 0 : alphaLimits.billingPauseMs
  const leftMs = Math.floor(stageLeftMs - alphaLimits.billingPauseMs)
  const timeoutMs = last === undefined ? firstAttemptMs(stageLeftMs) : leftMs
  if (timeoutMs < alphaLimits.billingAttemptMsMin) {
    return { kind: 'unknown', reason: last?.reason ?? 'deadline_passed' }
  }
  return { kind: 'post', attempt: last === undefined ? 1 : 2, pauseMs, timeoutMs }
}

const firstAttemptMs = (stageLeftMs: number): number => {
  const half = Math.floor((stageLeftMs - alphaLimits.billingPauseMs) / 2)
  // With too little for two attempts, the one there is takes everything.
  return half >= alphaLimits.billingAttemptMsMin ? half : Math.floor(stageLeftMs)
}

/** Everything the ending depends on. */
export interface FinishFacts {
  readonly inference: Outcome<CompletionVerdict>
  /** Definite charge, or null when there is none (not asked, no verdict, violation). */
  readonly cost: BillingCost | null
  /** Bound that was reserved, micro-USD. */
  readonly boundMicrousd: number
  /** Null while owner, root, goal, consent and policy are current; else what is gone. */
  readonly authorityLost: string | null
  /** A save has not ended: what it leaves of the authority is not known yet. */
  readonly suspended: boolean
  /** The disk did not take an accepted answer. */
  readonly unstored: boolean
  readonly cancelRequested: boolean
}

type FinishTask =
  | { readonly state: 'succeeded' }
  | { readonly state: 'blocked'; readonly kind: string; readonly reason: string }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'cancelled'; readonly reason: string }

/** The ending: what happens to the money, the task and the answer. */
export interface Finish {
  readonly ledger: 'settle' | 'unknown' | 'release'
  readonly task: FinishTask
  /** True only when the answer becomes the task's result now. */
  readonly adopt: boolean
  /** `hold`: kept sealed and unadopted until a person has looked at it. */
  readonly answer: 'adopt' | 'hold' | 'drop'
  /** The charge stands above the bound and asks for a person, whatever became of the answer. */
  readonly overrun: boolean
  /** How the face classes this ending (an overrun needs a person first); null on success. */
  readonly errorKind: ErrorKind | null
}

/** The ending of an operation whose charge nobody can tell. */
export const unaccounted: Finish = {
  ledger: 'unknown',
  task: { state: 'blocked', ...costLiability },
  adopt: false,
  answer: 'drop',
  overrun: false,
  errorKind: 'blocked',
}

/** The finishing table. Total and pure. */
export const decideFinish = (facts: FinishFacts): Finish => {
  const end = facts.inference
  if (end.kind === 'unsent') return finishUncontacted(facts, end)
  // A charge without the reply whose id it is billed under cannot be the charge of this ask.
  const named = end.kind === 'reply' && end.verdict.billingUuid !== null
  if (facts.cost === null || !named) return unaccounted
  return finishCharged(facts, end.verdict, facts.cost)
}

const finishUncontacted = (facts: FinishFacts, end: Unsent): Finish => {
  const rest = { ledger: 'release', adopt: false, answer: 'drop', overrun: false } as const
  if (facts.cancelRequested) {
    const task = { state: 'cancelled', reason: 'cancelled_before_contact' } as const
    return { ...rest, task, errorKind: 'cancelled' }
  }
  if (facts.authorityLost !== null) {
    const task = { state: 'failed', reason: facts.authorityLost } as const
    return { ...rest, task, errorKind: 'unauthorized' }
  }
  return { ...rest, task: { state: 'failed', reason: end.reason }, errorKind: end.errorKind }
}

const finishCharged = (
  facts: FinishFacts,
  verdict: CompletionVerdict,
  cost: BillingCost,
): Finish => {
  const overrun = cost.microUsd > facts.boundMicrousd
  const dropped = { ledger: 'settle', adopt: false, answer: 'drop', overrun } as const
  if (facts.cancelRequested) {
    const task = { state: 'cancelled', reason: 'cancelled_after_contact' } as const
    return { ...dropped, task, errorKind: overrun ? 'blocked' : 'cancelled' }
  }
  if (facts.authorityLost !== null) {
    const task = { state: 'failed', reason: facts.authorityLost } as const
    return { ...dropped, task, errorKind: overrun ? 'blocked' : 'unauthorized' }
  }
  if (!verdict.ok) {
    const task = { state: 'failed', reason: `completion_${verdict.reason}` } as const
    return { ...dropped, task, errorKind: overrun ? 'blocked' : 'remote' }
  }
  if (facts.unstored) {
    const task = { state: 'failed', reason: answerNotStored } as const
    return { ...dropped, task, errorKind: overrun ? 'blocked' : 'failed' }
  }
  if (overrun) {
    const task = { state: 'blocked', ...costOverrun } as const
    return { ...dropped, answer: 'hold', task, errorKind: 'blocked' }
  }
  if (facts.suspended) {
    const task = { state: 'blocked', ...answerHeld } as const
    return { ...dropped, answer: 'hold', task, errorKind: 'blocked' }
  }
  return {
    ledger: 'settle',
    task: { state: 'succeeded' },
    adopt: true,
    answer: 'adopt',
    overrun,
    errorKind: null,
  }
}

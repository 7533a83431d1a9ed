/**
 * Whether an admitted ask may be begun, sent, or its answer adopted, judged anew from the rows of
 * one moment each time.
 */
import type { Gov } from '../../governance/context.js'
import { storeDecision, type JudgedRoute } from '../../governance/judge/decision.js'
import { effectCase, type Claim } from '../../governance/judge/effect.js'
import { denied, judge, toldName, type Denial, type Phase } from '../../governance/judge/fact.js'
import { momentOf, type Moment } from '../../governance/judge/moment.js'
import { adoptionOf } from '../../governance/judge/policy-facts.js'
import type { FixedRoute, TrustRequest } from '../../governance/judge/request.js'
import { currentConsent } from '../../governance/policy/consents.js'
import type { Task, TrustDecision } from '../../governance/rows.js'
import type { FreshView, Tx } from '../../state/types.js'
import { alphaConsentStatement } from '../consent-text.js'
import {
  alphaCapability, alphaProfile, alphaPurpose, alphaRouteName, alphaRuntime, type AlphaProvider,
} from '../constants.js'
import type { AlphaTextInput } from '../input.js'
import { alphaFactsAt, alphaRoute, alphaToldAs, type AskCase } from '../readiness.js'
import { inferenceUrl } from '../request.js'
import type { AlphaTextSetup } from '../setup.js'
import type { AskOperation } from './operation.js'

/** Where an ask is judged: the deployment and its sealed provider. */
interface AskPlace {
  readonly gov: Gov
  readonly provider: AlphaProvider
}

/** What a judged contact rests on. */
interface AskAuthority {
  readonly setup: AlphaTextSetup
  readonly policyRevision: number
}

const fixedOf = (provider: AlphaProvider): FixedRoute => ({
  capability: alphaCapability,
  purpose: alphaPurpose,
  runtime: alphaRuntime,
  route: alphaRouteName,
  profile: alphaProfile,
  provider: provider.name,
  model: provider.model_id,
  url: inferenceUrl(provider.base_url),
  acknowledges: alphaConsentStatement(provider).sha256,
  paid: true,
})

/** The exact request that is judged: rows, constants and the session. */
const requestOf = (
  operation: AskOperation, moment: Moment, task: Task, setup: AlphaTextSetup | null,
): TrustRequest => {
  const { ctx: { gov, provider }, session } = operation
  const { runtime, profile, model, url } = fixedOf(provider)
  const consent = currentConsent(moment.view, moment.policy, alphaPurpose, moment.nowMs)
  const principal = session.principal.principal_id
  return {
    capability: alphaCapability,
    principal,
    // Who really asks, and through which face: it is compared with the task's row.
    provenance: { face: gov.face, principal, root: session.root.root_id },
    resource: { runtime, profile, provider: provider.name, model, url },
    authority: {
      root: task.original_root,
      goal_id: task.goal_id,
      goal_revision: task.goal_revision,
      consent_id: consent?.consent_id ?? task.purpose.consent_id,
      consent_revision: consent?.bound_revision ?? 0,
      policy_revision: moment.policy.head.revision,
    },
    task_id: task.task_id,
    job_id: task.job_id,
    operation_id: task.operation_id,
    lease: { holder: operation.operationId, fence: task.lease?.fence ?? 0 },
    ...(setup === null ? {} : { amount_microusd: setup.request_cost_bound_microusd }),
  }
}

interface Judged {
  readonly moment: Moment
  readonly setup: AlphaTextSetup | null
  readonly claim: Claim | null
  readonly denials: readonly Denial[]
}

/** Judges a task without a request: when it is begun, and when its answer is adopted. */
const judgeTask = (
  { gov, provider }: AskPlace, view: FreshView, task: Task, input: AlphaTextInput, phase: Phase,
): Judged => {
  const moment = momentOf(gov, view)
  const facts = alphaFactsAt(moment, provider)
  const ask: AskCase = { moment, task, fixed: fixedOf(provider), claim: null, input }
  const asker = { moment, root: task.original_root }
  return {
    moment, setup: facts.setup, claim: null,
    denials: judge(alphaRoute, { facts, ask, asker }, phase),
  }
}

/** Judges the exact request of a task with its lease. */
const judgeRequest = (
  operation: AskOperation, view: FreshView, task: Task, route: JudgedRoute | undefined,
  phase: 'preflight' | 'contact',
): Judged => {
  const { ctx: { gov, provider }, input } = operation
  const moment = momentOf(gov, view)
  const facts = alphaFactsAt(moment, provider)
  const request = requestOf(operation, moment, task, facts.setup)
  const effect = effectCase(moment, fixedOf(provider), request, route)
  const ask: AskCase = { ...effect, input }
  return {
    moment, setup: facts.setup, claim: effect.claim,
    denials: judge(alphaRoute, { facts, ask, asker: { moment, root: task.original_root } }, phase),
  }
}

const allowed = ({ denials, moment, setup }: Judged, code: string): AskAuthority => {
  if (denials.length > 0 || setup === null) {
    throw denied(denials, {
      code, toldAs: alphaToldAs, message: 'What this ask rests on does not stand any more.',
      next: 'Nothing more is sent for this task. See `sallyport alpha show`.',
    })
  }
  return { setup, policyRevision: moment.policy.head.revision }
}

/**
 * What an ask may be begun on, before it has a lease or a hold. The whole configuration must stand
 * as for a new ask. Throws `ask_not_authorized`.
 */
export const requireBeginning = (
  operation: AskOperation, view: FreshView, task: Task,
): AskAuthority =>
  allowed(judgeTask(operation.ctx, view, task, operation.input, 'admit'), 'ask_not_authorized')

/**
 * Decides the exact request and stores the decision. `route`: the operation's row, where there is
 * one already. Throws `trust_denied`.
 */
export const decideAsk = (
  operation: AskOperation, tx: Tx, task: Task, route: JudgedRoute | undefined,
): { readonly decision: TrustDecision; readonly policyRevision: number } => {
  const judged = judgeRequest(operation, tx, task, route, 'preflight')
  const { policyRevision } = allowed(judged, 'trust_denied')
  const { operationId } = operation
  const request = judged.claim?.request ?? {}
  const decision = storeDecision(tx, judged.moment.nowMs, { operationId, request, denials: [] })
  return { decision, policyRevision }
}

/**
 * Requires the stored decision of this very request and everything that it rests on: in the record
 * of the contact mark, and around it. Throws `trust_denied`.
 */
export const requireContact = (
  operation: AskOperation, view: FreshView, task: Task, route: JudgedRoute | undefined,
): AskAuthority => allowed(judgeRequest(operation, view, task, route, 'contact'), 'trust_denied')

/** What stands against adopting an answer, in the words of an ask. */
interface AnswerStatus {
  /** Why it may never be adopted, or null. */
  readonly lost: string | null
  /** Whether a save that has not ended keeps it from being adopted now. */
  readonly suspended: boolean
}

/** Whether an answer may be adopted, judged on everything that it rests on. */
export const answerStatus = (
  place: AskPlace, view: FreshView, task: Task, input: AlphaTextInput,
): AnswerStatus => {
  const { lost, suspended } = adoptionOf(judgeTask(place, view, task, input, 'adopt').denials)
  return { lost: lost === null ? null : toldName(lost, alphaToldAs), suspended: suspended !== null }
}

/**
 * Throws where a person may not adopt the held answer of their task now: `answer_suspended` while
 * nothing but a save that has not ended keeps it back, `ask_not_authorized` otherwise. A session
 * that took the task over stands in the place of the one that asked; nothing is contacted.
 */
export const requireAdoptionAuthority = (
  place: AskPlace, view: FreshView, task: Task, input: AlphaTextInput,
): void => {
  const taken: Task = { ...task, original_root: task.current_root }
  const judged = judgeTask(place, view, taken, input, 'adopt')
  const isSuspended = judged.denials.length > 0 && adoptionOf(judged.denials).lost === null
  allowed(judged, isSuspended ? 'answer_suspended' : 'ask_not_authorized')
}

/**
 * The one effect of the capability of nothing, as an order of the engine. What it rests on are the
 * facts that every effect has.
 */
import { randomUUID } from 'node:crypto'
import { sha256Hex } from '../../../src/base/canonical.js'
import { newId } from '../../../src/base/ids.js'
import { runOrder } from '../../../src/contact/engine.js'
import type {
  Claiming, ContactContext, Order, Running, Sent,
} from '../../../src/contact/order.js'
import { routeOf, type RouteDraft } from '../../../src/contact/routes.js'
import { registerArtifact } from '../../../src/governance/artifacts.js'
import { admitTask } from '../../../src/governance/board/admit.js'
import { requestCancel } from '../../../src/governance/board/cancel.js'
import { leaseTask } from '../../../src/governance/board/lease.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { getJob, getTask } from '../../../src/governance/board/visible-tasks.js'
import { storeDecision } from '../../../src/governance/judge/decision.js'
import { effectCase, effectFacts } from '../../../src/governance/judge/effect.js'
import { denied, judge, type Phase } from '../../../src/governance/judge/fact.js'
import { momentOf, type Moment } from '../../../src/governance/judge/moment.js'
import type { FixedRoute, TrustRequest } from '../../../src/governance/judge/request.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import { liveRoot } from '../../../src/governance/session/live.js'
import type { Session } from '../../../src/governance/context.js'
import type { Tx, View } from '../../../src/state/types.js'
import {
  nothingKind, nothingLabel, nothingMsMax, nothingProfile, nothingProvider, nothingRuntime,
} from './capability.js'
import { nothingPurpose, nothingRoute, requireConsent } from './grant.js'
import { nothingCollection, type Nothing } from './rows.js'

interface Claimed {
  readonly taskId: string
}

type Evidence = Sent<number>

/** One look, as it is asked for. */
interface Look {
  readonly ctx: ContactContext
  readonly session: Session
  readonly url: string
  /** Left out: the owner's default goal. */
  readonly goalId?: string | undefined
}

const admit = (
  { ctx, session, goalId }: Look, input: ReturnType<typeof seal>,
  tx: Tx, now: string, { operationId, deadline }: Claiming,
): Claimed => {
  const root = liveRoot(tx, ctx.gov, session.root.root_id)
  const { consent_id, bound_revision } = requireConsent(ctx.gov, tx)
  const owner = session.principal.principal_id
  const taskId = newId('task')
  const { artifact_id } = registerArtifact(tx, now, {
    label: nothingLabel, ref: input, owner, taskId, adopted: true,
  })
  const { deadline_at, budget_ms } = deadline.stored()
  admitTask(tx, now, {
    kind: nothingKind, session, goalId, inputArtifactId: artifact_id,
    idempotencyKey: randomUUID(), requestDigest: sha256Hex(operationId), taskId,
    jobId: newId('job'), operationId, requestId: newId('req'), attemptId: newId('att'),
    purpose: {
      consent_id, purpose: nothingPurpose, revision: bound_revision,
      root: root.root_id, expires_at: root.expires_at,
    },
    deadlineAt: deadline_at, budgetMs: budget_ms,
    provenance: { face: ctx.gov.face, principal: owner, root: root.root_id },
  })
  tx.put(nothingCollection, taskId, { task_id: taskId, state: 'open', status: null })
  return { taskId }
}

const seal = ({ ctx: { gov }, url }: Look) =>
  gov.store.artifacts.write(nothingLabel, Buffer.from(url))

/** What came of the look, by what was seen of the wire alone. */
const endOf = (wire: Evidence): Pick<Nothing, 'state' | 'status'> => {
  if (wire.kind === 'reply') return { state: 'done', status: wire.verdict }
  return { state: wire.kind === 'unsent' ? 'unsent' : 'lost', status: null }
}

const endTask = (tx: Tx, now: string, taskId: string, wire: Evidence): Task => {
  const task = getTask(tx, taskId)
  if (wire.kind === 'reply') {
    const job = getJob(tx, task)
    const receipt = { schema: 'svc.nothing.receipt.v1', status: wire.verdict }
    tx.put(collections.jobs, job.job_id, { ...job, receipt, updated_at: now })
    return moveTask(tx, now, taskId, 'succeeded')
  }
  if (wire.kind === 'sent') {
    const blocked = { kind: 'effect_unknown', reason: 'nothing_maybe_seen' }
    return moveTask(tx, now, taskId, 'blocked', { blocked })
  }
  // A stop that was recorded in time has cancelled it already.
  if (task.state === 'cancelled') return task
  const to = wire.errorKind === 'cancelled' ? 'cancelled' : 'failed'
  return moveTask(tx, now, taskId, to, { reason: wire.reason })
}

const fixedOf = (url: string): FixedRoute => ({
  capability: nothingKind, purpose: nothingPurpose, runtime: nothingRuntime, route: nothingRoute,
  profile: nothingProfile, provider: nothingProvider, url, paid: false,
})

const requestOf = (
  { ctx: { gov }, session, url }: Look, { view, policy }: Moment, task: Task, operationId: string,
): TrustRequest => {
  const { runtime, profile, provider } = fixedOf(url)
  const { principal_id: principal } = session.principal
  const { consent_id } = task.purpose
  return {
    capability: nothingKind, principal,
    provenance: { face: gov.face, principal, root: session.root.root_id },
    resource: { runtime, profile, provider, url },
    authority: {
      root: task.original_root, goal_id: task.goal_id, goal_revision: task.goal_revision,
      consent_id,
      consent_revision: view.get(collections.consents, consent_id)?.bound_revision ?? 0,
      policy_revision: policy.head.revision,
    },
    task_id: task.task_id, job_id: task.job_id, operation_id: task.operation_id,
    lease: { holder: operationId, fence: task.lease?.fence ?? 0 },
  }
}

/** The request and the policy revision that it may go out under. Throws where it may not. */
const judged = (
  look: Look, view: View, { claimed, operationId }: Running<Claimed>, phase: Phase,
): { readonly request: TrustRequest, readonly revision: number } => {
  const moment = momentOf(look.ctx.gov, view)
  const request = requestOf(look, moment, getTask(view, claimed.taskId), operationId)
  const one = effectCase(moment, fixedOf(look.url), request, routeOf(view, operationId))
  const denials = judge(effectFacts, one, phase)
  if (denials.length === 0) return { request, revision: moment.policy.head.revision }
  throw denied(denials, {
    code: 'nothing_denied', message: 'What this look rests on does not stand any more.',
    next: 'Look again.',
  })
}

const decideLook = (
  look: Look, tx: Tx, run: Running<Claimed>,
): Omit<RouteDraft, 'runtime' | 'profile'> => {
  const { request, revision } = judged(look, tx, run, 'preflight')
  const { decision_id } = storeDecision(tx, look.ctx.gov.clock.wallMs(), {
    operationId: run.operationId, request, denials: [],
  })
  return { provider: nothingProvider, url: look.url, decision_id, policy_revision: revision }
}

const requireLook = (look: Look, view: View, run: Running<Claimed>): number =>
  judged(look, view, run, 'contact').revision

const nothingOrder = (look: Look): Order<Claimed, Evidence, Task> => {
  const { session, url } = look
  const input = seal(look)
  return {
    step: 'nothing', verb: 'nothing look', noun: 'look',
    operationMsMax: nothingMsMax, lane: null,
    runtime: nothingRuntime, profile: nothingProfile, credential: null, sealed: input,
    claim: (tx, now, claiming) => {
      const claimed = admit(look, input, tx, now, claiming)
      return { kind: 'claimed', claimed, taskId: claimed.taskId }
    },
    onStop: (tx, now, { claimed }) => {
      requestCancel(tx, now, session, claimed.taskId)
    },
    enqueue: (tx, now, { claimed }) => {
      moveTask(tx, now, claimed.taskId, 'queued')
    },
    prepare: (tx, now, { claimed, operationId }) => {
      moveTask(tx, now, claimed.taskId, 'running')
      leaseTask(tx, now, claimed.taskId, operationId, getTask(tx, claimed.taskId).deadline_at)
      return { hold: null, requestMs: nothingMsMax }
    },
    decide: (tx, _now, run) => decideLook(look, tx, run),
    authority: (view, _boundary, run) => requireLook(look, view, run),
    run: (send, { terms }) => send({
      authority: 'full',
      request: () => ({
        method: 'GET', url, headers: {}, requestBytesMax: 0, replyBytesMax: 1_000,
      }),
      timeoutMs: (leftMs) => (leftMs > 0 ? Math.min(leftMs, terms.requestMs) : null),
      judge: ({ status }) => status,
    }),
    unsent: (why) => why,
    money: () => ({ ledger: 'release' }),
    close: (tx, now, { claimed }, { evidence }) => {
      const task = endTask(tx, now, claimed.taskId, evidence)
      const end = endOf(evidence)
      tx.put(nothingCollection, task.task_id, { task_id: task.task_id, ...end })
      return { kept: task, outcome: end.state, adopts: false }
    },
    details: ({ claimed }) => ({ task_id: claimed.taskId }),
  }
}

/** Looks at the other side once, as a task of its own. */
export const lookOnce = (
  ctx: ContactContext, session: Session, url: string, goalId?: string,
): Promise<Task> => runOrder(ctx, nothingOrder({ ctx, session, url, goalId }))

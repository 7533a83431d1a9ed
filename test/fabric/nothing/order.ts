/** The one effect of the capability of nothing, as an order of the engine. */
import { randomUUID } from 'node:crypto'
import { sha256Hex } from '../../../src/base/canonical.js'
import { fail } from '../../../src/base/errors.js'
import { newId } from '../../../src/base/ids.js'
import { runOrder } from '../../../src/contact/engine.js'
import type {
  Claiming, ContactContext, Order, Running, Sent,
} from '../../../src/contact/order.js'
import { registerArtifact } from '../../../src/governance/artifacts.js'
import { admitTask } from '../../../src/governance/board/admit.js'
import { requestCancel } from '../../../src/governance/board/cancel.js'
import { leaseTask } from '../../../src/governance/board/lease.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { getJob, getTask } from '../../../src/governance/board/read.js'
import { storeDecision } from '../../../src/governance/judge/decision.js'
import { policyHead } from '../../../src/governance/policy/head.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import { liveRoot } from '../../../src/governance/session/live.js'
import type { Session } from '../../../src/governance/session/types.js'
import type { Tx, View } from '../../../src/state/types.js'
import { nothingKind, nothingLabel, nothingMsMax, nothingRuntime } from './capability.js'
import { nothingCollection, type Nothing } from './rows.js'

interface Claimed {
  readonly taskId: string
  /** Rises with every revoke. */
  readonly epoch: number
}

type Evidence = Sent<number>

const admit = (
  ctx: ContactContext, session: Session, input: ReturnType<typeof seal>,
  tx: Tx, now: string, { operationId, deadline }: Claiming,
): Claimed => {
  const root = liveRoot(tx, ctx.gov, session.root.root_id)
  const owner = session.principal.principal_id
  const taskId = newId('task')
  const { artifact_id } = registerArtifact(tx, now, {
    label: nothingLabel, ref: input, owner, taskId, adopted: true,
  })
  const head = policyHead(tx)
  const { deadline_at, budget_ms } = deadline.stored()
  admitTask(tx, now, {
    kind: nothingKind, session, inputArtifactId: artifact_id, idempotencyKey: randomUUID(),
    requestDigest: sha256Hex(operationId), taskId, jobId: newId('job'), operationId,
    requestId: newId('req'), attemptId: newId('att'),
    purpose: {
      consent_id: 'con_none', purpose: 'nothing.look', revision: head.revision,
      root: root.root_id, expires_at: root.expires_at,
    },
    deadlineAt: deadline_at, budgetMs: budget_ms,
    provenance: { face: ctx.gov.face, principal: owner, root: root.root_id },
  })
  tx.put(nothingCollection, taskId, { task_id: taskId, state: 'open', status: null })
  return { taskId, epoch: head.epoch }
}

const seal = ({ gov }: ContactContext, url: string) =>
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

const requireAuthority = (
  ctx: ContactContext, session: Session, view: View, { claimed }: Running<Claimed>,
): number => {
  liveRoot(view, ctx.gov, session.root.root_id)
  const { epoch, revision } = policyHead(view)
  if (epoch !== claimed.epoch) {
    throw fail.unauthorized('nothing_revoked', 'Everything was revoked meanwhile.')
  }
  if (getTask(view, claimed.taskId).state !== 'running') {
    throw fail.conflict('task_not_runnable', 'The task has ended.')
  }
  return revision
}

const nothingOrder = (
  ctx: ContactContext, session: Session, url: string,
): Order<Claimed, Evidence, Task> => {
  const input = seal(ctx, url)
  return {
    step: 'nothing', verb: 'nothing look', noun: 'look',
    operationMsMax: nothingMsMax, lane: null,
    runtime: nothingRuntime, profile: 'nothing', credential: null, sealed: input,
    claim: (tx, now, claiming) => {
      const claimed = admit(ctx, session, input, tx, now, claiming)
      return { kind: 'claimed', claimed, taskId: claimed.taskId }
    },
    onStop: (tx, now, { claimed }) => {
      requestCancel(tx, now, session, claimed.taskId)
    },
    enqueue: (tx, now, { claimed }) => {
      moveTask(tx, now, claimed.taskId, 'queued')
    },
    prepare: (tx, now, { claimed }) => {
      moveTask(tx, now, claimed.taskId, 'running')
      leaseTask(tx, now, claimed.taskId, 'holder', getTask(tx, claimed.taskId).deadline_at)
      return { hold: null, requestMs: nothingMsMax }
    },
    decide: (tx, _now, { operationId, claimed }) => {
      const request = { capability: nothingKind, url, task_id: claimed.taskId }
      const { decision_id } = storeDecision(tx, ctx.gov.clock.wallMs(), {
        operationId, request, denials: [],
      })
      return {
        provider: 'loopback', url, decision_id, policy_revision: policyHead(tx).revision,
      }
    },
    authority: (view, _boundary, run) => requireAuthority(ctx, session, view, run),
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
  ctx: ContactContext, session: Session, url: string,
): Promise<Task> => runOrder(ctx, nothingOrder(ctx, session, url))

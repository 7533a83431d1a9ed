/**
 * Looking once more at what a closure proved, by GET alone. What is found as it was sealed is kept
 * as one more line of the READ history, with its sealed journal; nothing else of job, task,
 * connection, fence or money changes, and nothing is freed, reserved, settled or adopted by it
 * (C-237, C-276 to C-279).
 */
import { isoFromMs } from '../../../base/clock.js'
import { fail, SallyportError } from '../../../base/errors.js'
import { readUnrecorded } from '../../../contact/unrecorded.js'
import { discardUnnamed } from '../../../governance/artifacts.js'
import { momentOf } from '../../../governance/judge/moment.js'
import { liveSession, requireLiveRow, sessionMoment } from '../../../governance/session/live.js'
import type { Session } from '../../../governance/context.js'
import type { ArtifactRef, FreshView, View } from '../../../state/types.js'
import { boundOf } from '../../adapter/reads.js'
import { afterRead } from '../../after-read.js'
import { codehostProfile, codehostRuntime } from '../../constants.js'
import { codehostBase, type CodehostContext } from '../../context.js'
import { closeRequestOf, type CloseRequest } from '../../jobs/closed/request.js'
import type { ReadReceipt } from '../../jobs/receipt.js'
import { keepReads } from '../../jobs/settle.js'
import { keptLimits } from '../../plan/plan-limits.js'
import { requireRead, type Bound } from '../../readiness.js'
import { observationBindings, type Bindings } from '../bindings.js'
import { closureBlockers, type ClosureBlocker } from '../blockers.js'
import { ReadBudget } from '../budget.js'
import { requireReadRoom } from '../commit.js'
import type { Evidence } from '../evidence.js'
import { closureGet, type ClosureGet } from '../get.js'
import { rowedReceipts, sealJournals } from '../journals.js'
import type { Observing } from '../kind.js'
import { closureKinds } from '../kinds.js'
import type { ReadLimits } from '../closure-limits.js'
import { requireItsOwn } from '../repeated.js'
import { covered, partyOf, requireUnstopped } from '../stops.js'
import { requireObservable, requireObserved, type ClosedJob } from './authority.js'
import type { ObserveRequest } from './request.js'

const isBlocker = (reason: string | null): reason is ClosureBlocker =>
  reason !== null && reason in closureBlockers

interface Asked {
  readonly jobId: string
  readonly request: ObserveRequest
}

const again = ({ jobId, request }: Asked): string =>
  `The closure stands. To look again: \`sallyport codehost recover observe ${jobId} `
    + `--expected-revision ${request.expected_read_revision}\`.`

/** The error of a look, whatever it was; after reads none that says that nothing was sent. */
const observationError = (error: unknown, asked: Asked, reads: boolean): unknown => {
  if (!(error instanceof SallyportError)) return error
  const parts = { next: again(asked), details: { job_id: asked.jobId }, cause: error }
  if (error.code === 'closure_blocked' && isBlocker(error.reason)) {
    return fail.blocked(
      'observation_blocked', `${closureBlockers[error.reason].text} Nothing was recorded.`,
      { ...parts, reason: error.reason },
    )
  }
  if (error.kind === 'cancelled') {
    return fail.cancelled(
      'observe_cancelled', 'The look was cancelled; nothing was recorded.', parts)
  }
  return reads ? afterRead(error) : error
}

interface ObserveOrder {
  readonly jobId: string
  readonly request: ObserveRequest
  /** Left out: the limits of the kind. */
  readonly limits?: ReadLimits
}

/** What was seen. */
export interface Observation extends ClosedJob {
  readonly operationId: string
  readonly at: string
  readonly receipts: readonly ReadReceipt[]
  readonly journals: readonly ArtifactRef[]
  readonly gets: number
  readonly rawBytes: number
}

interface Snapshot extends ClosedJob {
  readonly session: Session
  readonly view: View
  readonly bindings: Partial<Bindings>
  readonly observing: Observing
  readonly limits: ReadLimits
}

/** The request that was applied, at the READ revision of now. */
const appliedAt = ({ job, closure }: ClosedJob, revision: number): CloseRequest => ({
  ...closeRequestOf(JSON.parse(closure.request), job.native_kind).request,
  expected_connection_revision: revision,
})

const snapshotOf = (
  ctx: CodehostContext, session: Session, { jobId, request, limits }: ObserveOrder,
): Snapshot => {
  const { gov } = ctx
  requireUnstopped(ctx, session)
  const view = gov.store.read()
  const live = liveSession(view, gov, session.root.root_id)
  const closed = requireObservable(view, live, jobId, request)
  const kind = closureKinds[closed.job.native_kind]
  const bounds = limits ?? kind.limits
  const observing = kind.observing(
    gov, view, closed.job, appliedAt(closed, request.expected_read_revision), bounds)
  return {
    ...closed, session, view, bindings: observationBindings(view, jobId), limits: bounds,
    observing,
  }
}

interface Seen {
  readonly evidence: Evidence
  readonly operationId: string
  readonly budget: ReadBudget
}

const read = (
  ctx: CodehostContext, { jobId }: ObserveOrder, snapshot: Snapshot, budget: ReadBudget,
): Promise<Seen> => {
  const { session, view, connection, bindings, limits, observing } = snapshot
  const claimed: Bound = boundOf(view, session, connection, ctx.baseUrl)
  const authority = (now: FreshView): number => {
    const moment = momentOf(ctx.gov, now)
    requireRead({ moment, bound: claimed, baseUrl: codehostBase(ctx.gov) })
    requireObserved(now, snapshot, bindings)
    return moment.policy.head.revision
  }
  return readUnrecorded(ctx, {
    step: 'observe', verb: 'codehost observe', noun: 'observe', runtime: codehostRuntime,
    profile: codehostProfile, operationMsMax: limits.windowMs,
    credential: connection.credential_ref, claimed, covered, authority,
    party: () => partyOf(session),
  }, async (parts) => {
    const get = closureGet(jobId, ctx.baseUrl, budget, parts)
    // The boundary of the reply: what came behind a change is thrown away.
    const still: ClosureGet = async (path, judge, how) => {
      const value = await get(path, judge, how)
      requireUnstopped(ctx, session)
      authority(await ctx.gov.store.fresh())
      return value
    }
    const evidence = await observing.read(still, { budget, signal: ctx.signal })
    return { evidence, operationId: parts.operationId, budget }
  })
}

const keep = async (
  ctx: CodehostContext, order: ObserveOrder, snapshot: Snapshot, seen: Seen,
): Promise<Observation> => {
  const { gov } = ctx
  const { session, bindings, closure, connection } = snapshot
  const { evidence, operationId, budget: { gets, rawBytes } } = seen
  const { receipts } = evidence
  const { root_id: rootId } = session.root
  const { wallMs, lastUseMs } = sessionMoment(gov, rootId)
  const at = isoFromMs(Math.max(wallMs, lastUseMs ?? 0))
  const sealed = sealJournals(gov, order.jobId, evidence, { ...keptLimits, ...snapshot.limits })
  const journals = sealed.map(({ ref }) => ref)
  const stored = journals.map(({ stored_sha256: name }) => name)
  return discardUnnamed(gov.store, stored, async (tried) => {
    await gov.observer.at('observe.sealed')
    requireUnstopped(ctx, session)
    return gov.store.transactLoaded('codehost observe', tried((named, tx) => {
      const live = requireLiveRow(tx, rootId, { wallMs: gov.clock.wallMs(), lastUseMs })
      const { job } = requireObservable(tx, live, order.jobId, order.request)
      requireObserved(tx, snapshot, bindings)
      requireItsOwn(tx, job, receipts.map(({ effect }) => effect))
      keepReads({ gov }, tx, at, job, {
        purpose: 'observation', operationId, journals: sealed, rowed: rowedReceipts(receipts),
        rawBytes, gets,
      })
      named()
      return { job, closure, connection, operationId, at, receipts, journals, gets, rawBytes }
    }))
  })
}

/** Of a publication whose local work alone was begun nothing can be looked at. */
const requireSomething = ({ view, job, observing: { reads } }: Snapshot): void => {
  requireReadRoom(view, job.job_id, reads)
  if (reads > 0) return
  throw fail.conflict(
    'nothing_to_observe', 'Nothing of this job was sent: there is nothing to see.', {
      details: { job_id: job.job_id },
    },
  )
}

/**
 * Looks, and keeps what was seen. Throws what `requireObservable` does, `blocked`
 * `observation_blocked` with the reason for which something is no evidence any more, `conflict`
 * `observation_binding_changed`. After each of them nothing was recorded, and the closure stands.
 */
export const observeClosed = async (
  ctx: CodehostContext, session: Session, order: ObserveOrder,
): Promise<Observation> => {
  let budget: ReadBudget | null = null
  let snapshot: Snapshot | null = null
  try {
    snapshot = snapshotOf(ctx, session, order)
    requireSomething(snapshot)
    budget = new ReadBudget(snapshot.limits)
    return await keep(ctx, order, snapshot, await read(ctx, order, snapshot, budget))
  } catch (error) {
    throw observationError(error, order, (budget?.gets ?? 0) > 0)
  } finally {
    snapshot?.observing.end?.()
  }
}

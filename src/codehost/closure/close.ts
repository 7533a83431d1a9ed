/**
 * Closing the capacity that one job occupies, by positive proof of everything that it may have
 * sent. In this order: what was applied before is answered out of rows; the guard; the request is
 * kept; evidence is read; account and journal are sealed; one short record. A closure that is
 * refused leaves the state as it was, but for the kept request (C-020, C-094, C-239).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { readUnrecorded } from '../../contact/unrecorded.js'
import { discardStored } from '../../governance/artifacts.js'
import type { Gov } from '../../governance/context.js'
import { holdGuard, type Guard } from '../../governance/guard.js'
import { momentOf } from '../../governance/judge/moment.js'
import { liveSession, sessionMoment } from '../../governance/session/live.js'
import type { Session } from '../../governance/session/types.js'
import { stopCovering } from '../../governance/stops/folder.js'
import { stoppedError, type Aim } from '../../governance/stops/stop.js'
import type { ArtifactRef, View } from '../../state/types.js'
import { afterRead } from '../after-read.js'
import { boundOf } from '../adapter/reads.js'
import { codehostProfile, codehostRuntime } from '../constants.js'
import { codehostBase, type CodehostContext } from '../context.js'
import { sealJournal } from '../jobs/receipt.js'
import { requireRead, type Bound } from '../readiness.js'
import { writeAccount } from './account.js'
import { bindingsOf, requireBindings, type Bindings } from './bindings.js'
import { ReadBudget } from './budget.js'
import { commitClosure, requireHistoryRoom, type Committed, type Prepared } from './commit.js'
import { appliedClosure, requireClosable, requireIdentity, type Identified } from './eligible.js'
import type { Evidence } from './evidence.js'
import { closeCancelled, closureGet } from './get.js'
import { closureKinds, type Proving } from './kinds.js'
import type { ReadLimits } from './limits.js'
import { keepPending } from './pending.js'
import type { ReadRequest } from './request.js'
import { closureCollection, type Closure } from './rows.js'

/** What is asked for. */
export interface CloseOrder {
  readonly jobId: string
  readonly read: ReadRequest
  /** Left out: the limits of the kind. */
  readonly limits?: ReadLimits
}

/** What a closure came to. */
export interface ClosedCapacity {
  readonly closure: Closure
  /** False where an earlier request had closed it: nobody was contacted for this answer. */
  readonly fresh: boolean
}

/** Like every read: what ends writes does not end it. */
const covered = ({ kind }: Aim): boolean | undefined => (kind === 'all' ? false : undefined)

const partyOf = ({ principal, root }: Session) =>
  ({ principal: principal.principal_id, root: root.root_id, task: null, connection: null })

/** Throws `unauthorized` where a stop that nobody has recorded yet covers the asker. */
const requireUnstopped = ({ gov }: CodehostContext, session: Session): void => {
  const stop = stopCovering(gov.store, partyOf(session), covered)
  if (stop !== undefined) throw stoppedError(stop)
}

interface Found extends Identified {
  readonly view: View
  readonly applied: Closure | null
}

/** Session, job, connection and credential; then what this very request has closed before. */
const find = (ctx: CodehostContext, session: Session, { jobId, read }: CloseOrder): Found => {
  requireUnstopped(ctx, session)
  const view = ctx.gov.store.read()
  const live = liveSession(view, ctx.gov, session.root.root_id)
  const identified = requireIdentity(view, live, jobId)
  return { ...identified, view, applied: appliedClosure(view, identified.job, read) }
}

const pauseMs = 20

const underWay = (jobId: string) => fail.locked(
  'closure_under_way', 'Another process works on closing the capacity of this job.', {
    next: `Try again: sallyport codehost close-capacity ${jobId} --retry`,
    details: { job_id: jobId },
  },
)

const isHeldElsewhere = (error: unknown): boolean =>
  error instanceof SallyportError && error.code === 'guard_held'

/** The guard of the closures of one job; whoever comes second waits for the first one's end. */
const holdClosureGuard = async (
  { gov, signal }: CodehostContext, jobId: string, windowMs: number,
): Promise<Guard> => {
  const endMs = performance.now() + windowMs
  for (;;) {
    try {
      return await holdGuard(gov.store.dir, `close_${jobId}`)
    } catch (error) {
      if (!isHeldElsewhere(error)) throw error
    }
    if (signal.aborted) throw closeCancelled(jobId)
    if (performance.now() > endMs) throw underWay(jobId)
    await sleep(pauseMs)
  }
}

interface Snapshot extends Found {
  readonly session: Session
  readonly bindings: Bindings
  readonly proving: Proving
  readonly limits: ReadLimits
}

interface Collected {
  readonly evidence: Evidence
  readonly operationId: string
  readonly budget: ReadBudget
}

const collectReads = (
  ctx: CodehostContext, { jobId }: CloseOrder, snapshot: Snapshot,
): Promise<Collected> => {
  const { session, view, connection, bindings, proving, limits } = snapshot
  const budget = new ReadBudget(limits)
  const claimed: Bound = boundOf(view, session, connection, ctx.baseUrl)
  return readUnrecorded(ctx, {
    step: 'closure', verb: 'codehost close-capacity', noun: 'close_capacity',
    runtime: codehostRuntime, profile: codehostProfile, operationMsMax: limits.windowMs,
    credential: connection.credential_ref, claimed, covered,
    party: () => partyOf(session),
    authority: (now) => {
      const moment = momentOf(ctx.gov, now)
      requireRead({ moment, bound: claimed, baseUrl: codehostBase(ctx.gov) })
      requireBindings(now, jobId, bindings)
      return moment.policy.head.revision
    },
  }, async (parts) => ({
    evidence: await proving.read(closureGet(jobId, ctx.baseUrl, budget, parts)),
    operationId: parts.operationId, budget,
  }))
}

const collect = async (
  ctx: CodehostContext, order: CloseOrder, snapshot: Snapshot,
): Promise<Collected> => {
  const { proving: { earlier }, limits } = snapshot
  if (earlier !== null) {
    return { evidence: earlier, operationId: newId('op'), budget: new ReadBudget(limits) }
  }
  try {
    return await collectReads(ctx, order, snapshot)
  } catch (error) {
    throw afterRead(error)
  }
}

interface SealedParts {
  readonly journal: ArtifactRef | null
  readonly prepared: Prepared
}

const sealParts = (
  ctx: CodehostContext, { jobId, read }: CloseOrder, snapshot: Snapshot, collected: Collected,
): SealedParts => {
  const { gov } = ctx
  const { session, job, bindings, proving: { producer } } = snapshot
  const { evidence, operationId, budget } = collected
  const { receipts, earlier } = evidence
  const journal = receipts.length === 0 ? null : sealJournal(gov, receipts)
  const journals = [
    ...earlier.map(({ journal: { sha256 } }) => sha256),
    ...(journal === null ? [] : [journal.sha256]),
  ]
  const { wallMs, lastUseMs } = sessionMoment(gov, session.root.root_id)
  const counts = {
    fresh: receipts.length, earlier: earlier.length, gets: budget.gets,
  }
  const header = {
    closureId: newId('cls'), at: isoFromMs(Math.max(wallMs, lastUseMs ?? 0)), read, journals,
    producer,
  }
  const account = writeAccount(gov, {
    ...header, job, bindings,
    counts: { ...counts, effects: job.plan.effects, raw_bytes: budget.rawBytes },
  })
  return {
    journal,
    prepared: {
      ...header, ...counts, rawBytes: budget.rawBytes, session, jobId, bindings, evidence,
      journal, operationId, artifactId: newId('art'), account,
      artifactSha256: account.stored_sha256, lastUseMs,
    },
  }
}

/** Commits; what no row names then leaves the disk, unless nobody knows whether one does. */
const commitParts = async (
  ctx: CodehostContext, session: Session, { journal, prepared }: SealedParts,
): Promise<Committed> => {
  const { gov } = ctx
  let named = false
  try {
    requireUnstopped(ctx, session)
    return await commitClosure(gov, prepared, () => (named = true))
  } finally {
    if (!named) {
      discardStored(gov.store, prepared.account.stored_sha256)
      discardStored(gov.store, journal?.stored_sha256 ?? null)
    }
  }
}

const closed = (ctx: CodehostContext, closureId: string, fresh: boolean): ClosedCapacity => {
  const closure = ctx.gov.store.read().get(closureCollection, closureId)
  if (closure === undefined) throw new TypeError('a committed closure has its row')
  return { closure, fresh }
}

const underGuard = async (
  ctx: CodehostContext, session: Session, order: CloseOrder,
): Promise<ClosedCapacity> => {
  const { gov } = ctx
  const { jobId, read } = order
  const found = find(ctx, session, order)
  if (found.applied !== null) return { closure: found.applied, fresh: false }
  const { view, job } = found
  requireClosable(view, found, read.request)
  keepPending(gov.store.dir, { jobId, kind: job.native_kind, read })
  await gov.observer.at('closure.kept')
  const kind = closureKinds[job.native_kind]
  requireHistoryRoom(view, jobId)
  const snapshot: Snapshot = {
    ...found, session, limits: order.limits ?? kind.limits, bindings: bindingsOf(view, jobId),
    proving: kind.proving(gov, view, job, read.request),
  }
  const collected = await collect(ctx, order, snapshot)
  await gov.observer.at('closure.proved')
  const parts = sealParts(ctx, order, snapshot, collected)
  await gov.observer.at('closure.staged')
  const { closureId, own } = await commitParts(ctx, session, parts).catch((error: unknown) => {
    throw collected.budget.gets > 0 ? afterRead(error) : error
  })
  await gov.observer.at('closure.committed')
  return closed(ctx, closureId, own)
}

/** The job of a request, before the request is read: its kind says which fields there are. */
export const closableJob = (gov: Gov, session: Session, jobId: string): Identified => {
  const view = gov.store.read()
  return requireIdentity(view, liveSession(view, gov, session.root.root_id), jobId)
}

/**
 * Closes, or answers what the very same request has closed before. Throws `not_found`,
 * `unauthorized` (`closure_root_ended`, `credential_changed`, what the session lacks), `conflict`
 * (`repository_changed`, `idempotency_conflict`, `job_closed`, `job_not_closable`, `stale_…`,
 * `closure_binding_changed`), `locked` `closure_under_way`, `blocked` `closure_blocked` with its
 * named reason. After each of them the capacity is as it was.
 */
export const closeCapacity = async (
  ctx: CodehostContext, session: Session, order: CloseOrder,
): Promise<ClosedCapacity> => {
  const { applied, view, job, connection } = find(ctx, session, order)
  if (applied !== null) return { closure: applied, fresh: false }
  requireClosable(view, { job, connection }, order.read.request)
  const { windowMs } = order.limits ?? closureKinds[job.native_kind].limits
  const guard = await holdClosureGuard(ctx, order.jobId, windowMs)
  try {
    return await underGuard(ctx, session, order)
  } finally {
    guard.release()
  }
}

/**
 * Closing the capacity that one job occupies, by positive proof of everything that it may have
 * sent. In this order: what was applied before is answered out of rows; the guard; the request is
 * kept; evidence is read; account and journal are sealed; one short record. A closure that is
 * refused leaves the state as it was, but for the kept request (C-020, C-094, C-239).
 */
import { isoFromMs } from '../../base/clock.js'
import { newId } from '../../base/ids.js'
import { readUnrecorded } from '../../contact/unrecorded.js'
import { discardStored, discardUnnamed } from '../../governance/artifacts.js'
import type { Gov, Session } from '../../governance/context.js'
import { momentOf } from '../../governance/judge/moment.js'
import { liveSession, sessionMoment } from '../../governance/session/live.js'
import type { View } from '../../state/types.js'
import { afterRead } from '../after-read.js'
import { boundOf } from '../adapter/reads.js'
import { codehostProfile, codehostRuntime } from '../constants.js'
import { codehostBase, type CodehostContext } from '../context.js'
import { getJob } from '../jobs/change.js'
import { dropStage } from '../jobs/publication/stages.js'
import type { Job } from '../jobs/job-rows.js'
import { keptLimits } from '../plan/plan-limits.js'
import { requireRead, type Bound } from '../readiness.js'
import { writeAccount } from './account.js'
import { bindingsOf, requireBindings, type Bindings } from './bindings.js'
import { ReadBudget } from './budget.js'
import { commitClosure, requireHistoryRoom, type Committed, type Prepared } from './commit.js'
import { appliedClosure, requireClosable, requireIdentity, type Identified } from './eligible.js'
import type { Evidence } from './evidence.js'
import { closureGet } from './get.js'
import { holdClosureGuard } from './guard.js'
import { sealJournals, type SealedJournal } from './journals.js'
import type { Proving } from './kind.js'
import { closureKinds } from './kinds.js'
import type { ReadLimits } from './closure-limits.js'
import { keepPending } from '../jobs/closed/pending.js'
import { watchedGet } from './watched.js'
import type { ReadRequest } from '../jobs/closed/request.js'
import { closureCollection, type Closure } from '../jobs/closed/closed-job-rows.js'
import { covered, partyOf, requireUnstopped } from './stops.js'

interface CloseOrder {
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
    evidence: await proving.read(
      watchedGet(ctx, { budget, limits, deadline: parts.deadline },
        closureGet(jobId, ctx.baseUrl, budget, parts)),
      { budget, signal: ctx.signal }),
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

/** Digests of journals, each once, in the order of their readbacks. */
const digestsOf = (
  { earlier }: Evidence, sealed: readonly SealedJournal[],
): readonly string[] => [...new Set([
  ...earlier.map(({ journal: { sha256 } }) => sha256), ...sealed.map(({ ref }) => ref.sha256),
])]

const sealAccount = (
  ctx: CodehostContext, { jobId, read }: CloseOrder, snapshot: Snapshot, collected: Collected,
  sealed: readonly SealedJournal[],
): Prepared => {
  const { gov } = ctx
  const { session, job, bindings, proving: { producer } } = snapshot
  const { evidence, operationId, budget } = collected
  const { wallMs, lastUseMs } = sessionMoment(gov, session.root.root_id)
  const counts = {
    fresh: evidence.receipts.length, earlier: evidence.earlier.length, gets: budget.gets,
  }
  const header = {
    closureId: newId('cls'), at: isoFromMs(Math.max(wallMs, lastUseMs ?? 0)), read,
    journals: digestsOf(evidence, sealed), producer,
  }
  const account = writeAccount(gov, {
    ...header, job, bindings,
    counts: { ...counts, effects: job.plan.effects, raw_bytes: budget.rawBytes },
  })
  return {
    ...header, ...counts, rawBytes: budget.rawBytes, session, jobId, bindings, evidence, sealed,
    operationId, artifactId: newId('art'), account, artifactSha256: account.stored_sha256,
    lastUseMs,
  }
}

const letGo = ({ gov: { store } }: CodehostContext, sealed: readonly SealedJournal[]): void => {
  for (const { ref } of sealed) discardStored(store, ref.stored_sha256)
}

/** Seals journals and account; where the account cannot be, the journals leave the disk. */
const sealParts = (
  ctx: CodehostContext, order: CloseOrder, snapshot: Snapshot, collected: Collected,
): Prepared => {
  const sealed = sealJournals(ctx.gov, order.jobId, collected.evidence, {
    ...keptLimits, ...snapshot.limits,
  })
  try {
    return sealAccount(ctx, order, snapshot, collected, sealed)
  } catch (error) {
    letGo(ctx, sealed)
    throw error
  }
}

const commitParts = (
  ctx: CodehostContext, prepared: Prepared, { session, proving }: Snapshot,
): Promise<Committed> => {
  const stored = [prepared.account, ...prepared.sealed.map(({ ref }) => ref)]
  return discardUnnamed(ctx.gov.store, stored.map((ref) => ref.stored_sha256), async (tried) => {
    requireUnstopped(ctx, session)
    proving.requireStill?.()
    return commitClosure(ctx.gov, prepared, tried)
  })
}

const closed = (ctx: CodehostContext, closureId: string, fresh: boolean): ClosedCapacity => {
  const closure = ctx.gov.store.read().get(closureCollection, closureId)
  if (closure === undefined) throw new TypeError('a committed closure has its row')
  return { closure, fresh }
}

/** Reads, seals and commits, once everything that waits for others is held. */
const prove = async (
  ctx: CodehostContext, order: CloseOrder, snapshot: Snapshot,
): Promise<ClosedCapacity> => {
  const { gov } = ctx
  const collected = await collect(ctx, order, snapshot)
  await gov.observer.at('closure.proved')
  const parts = sealParts(ctx, order, snapshot, collected)
  await gov.observer.at('closure.staged')
  const { closureId, own } = await commitParts(ctx, parts, snapshot).catch((error: unknown) => {
    throw collected.budget.gets > 0 ? afterRead(error) : error
  })
  await gov.observer.at('closure.committed')
  return closed(ctx, closureId, own)
}

/** The request is kept whatever keeps it from being worked on, so that it can be sent again. */
const keepOrder = async (
  { gov }: CodehostContext, { jobId, read }: CloseOrder, { native_kind: kind }: Job,
): Promise<void> => {
  keepPending(gov.store.dir, { jobId, kind, read })
  await gov.observer.at('closure.kept')
}

const withGuard = async (
  ctx: CodehostContext, session: Session, order: CloseOrder, found: Found,
): Promise<ClosedCapacity> => {
  const { gov } = ctx
  const { jobId, read } = order
  const { view, job } = found
  await keepOrder(ctx, order, job)
  const kind = closureKinds[job.native_kind]
  const limits = order.limits ?? kind.limits
  const proving = kind.proving(gov, view, job, read.request, limits)
  try {
    requireHistoryRoom(view, jobId, proving.reads)
    return await prove(ctx, order, {
      ...found, session, limits, proving, bindings: bindingsOf(view, jobId),
    })
  } finally {
    proving.end?.()
  }
}

const underGuard = async (
  ctx: CodehostContext, session: Session, order: CloseOrder,
): Promise<ClosedCapacity> => {
  const found = find(ctx, session, order)
  if (found.applied !== null) return { closure: found.applied, fresh: false }
  const { view, job } = found
  requireClosable(view, found, order.read.request)
  const guard = await closureKinds[job.native_kind].guard?.(ctx.gov, job)
    .catch(async (error: unknown) => {
      await keepOrder(ctx, order, job)
      throw error
    })
  try {
    const done = await withGuard(ctx, session, order, found)
    dropStage(ctx.gov, getJob(ctx.gov.store.read(), job.job_id))
    return done
  } finally {
    guard?.release()
  }
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
 * named reason, `rejected` `of_other_machine`. After each of them the capacity is as it was.
 */
export const closeCapacity = async (
  ctx: CodehostContext, session: Session, order: CloseOrder,
): Promise<ClosedCapacity> => {
  const { applied, view, job, connection } = find(ctx, session, order)
  if (applied !== null) return { closure: applied, fresh: false }
  requireClosable(view, { job, connection }, order.read.request)
  const kind = closureKinds[job.native_kind]
  kind.requireHere?.(ctx.gov, view, job)
  const { windowMs } = order.limits ?? kind.limits
  const guard = await holdClosureGuard(ctx, order.jobId, windowMs)
  try {
    return await underGuard(ctx, session, order)
  } finally {
    guard.release()
  }
}

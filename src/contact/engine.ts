/**
 * The one engine of contact: claim, lane, decision and hold, contact mark, requests, one closing
 * record. Invariants, for every order:
 * - the claim is durable before anything else, and its guard is held before the claim exists;
 * - the decision and the hold are one record, the last check and the mark are one record;
 * - nothing that may have been sent is sent again, by anybody;
 * - a hold is given back only on proof that no request byte left.
 */
import { SallyportError } from '../base/errors.js'
import { newId } from '../base/ids.js'
import { discardUnnamed } from '../governance/artifacts.js'
import { nowIso } from '../governance/context.js'
import type { Lane } from '../state/holds/lane.js'
import { reserve } from '../governance/ledger/steps.js'
import { completeWitness } from '../governance/policy/publish.js'
import { openCredential } from '../governance/vault.js'
import type { HttpsSession } from '../net/client.js'
import { startDeadline } from '../net/remaining.js'
import type { ArtifactRef, Tx } from '../state/types.js'
import { endMoney } from './money.js'
import {
  announce, bindingOf, cancelled, isExpected, requireGoing, toldByDisk, transact, waitFor,
  whyUnsent, type Operation,
} from './operation.js'
import type { Claim, Claiming, Closed, ContactContext, Order, Terms } from './order.js'
import { persist, unended, unrecorded } from './persist.js'
import { closeRoute, openRoute } from './routes.js'
import { makeSend } from './send.js'

type Op<C, E, K> = Operation<C, E, K>

/** Everything that ends with the operation: money, route and the order's own rows. */
const closeRows = <C, E, K>(
  op: Op<C, E, K>, tx: Tx, now: string, evidence: E, sealed: ArtifactRef | null,
): Closed<K> => {
  const { ctx: { gov }, order, run, terms } = op
  // A save that died between its record and its line says nothing against what was paid for.
  completeWitness(gov.store)
  const refusal = endMoney(
    tx, now, { ...bindingOf(op), sources: order.sources ?? {} }, order.money(evidence, run),
  )
  const closed = order.close(tx, now, run, { evidence, sealed, terms, refusal })
  closeRoute(tx, run.operationId, closed.outcome)
  return closed
}

const commit = async <C, E, K>(
  op: Op<C, E, K>, evidence: E, sealed: ArtifactRef | null,
): Promise<K> => {
  const { ctx: { gov }, order, run } = op
  const leftMs = (): number => (op.sent ? run.deadline.remainingMs() : 0)
  return discardUnnamed(gov.store, [sealed?.stored_sha256 ?? null], (tried) =>
    persist(gov, order.verb, leftMs, tried((named, tx, now: string) => {
      const closed = closeRows(op, tx, now, evidence, sealed)
      if (closed.adopts) named()
      return closed.kept
    })))
}

/**
 * What kept the end from being recorded, told as what it means for the money: before contact it is
 * what stopped the operation, after contact see `unrecorded`.
 */
const toldEnd = <C, E, K>(
  { order, run, sent, unsentBy }: Op<C, E, K>, thrown: unknown,
): unknown => {
  const error = toldByDisk(thrown)
  if (!(error instanceof SallyportError)) return error
  if (sent) {
    return unrecorded(error, run.operationId, order.details(run), order.sources !== undefined)
  }
  // Rows that refuse the end say more than what stopped it; a state that takes no record does not.
  const untaken = error.kind === 'locked' || error.kind === 'failed'
  const told = untaken && unsentBy instanceof SallyportError ? unsentBy : error
  return unended(told, run.operationId, order.details(run))
}

/** Makes the outcome durable. */
const finish = async <C, E, K>(op: Op<C, E, K>, evidence: E): Promise<K> => {
  const { order, run } = op
  waitFor(op, 'record', run.deadline.remainingMs())
  await announce(op, 'charge_known')
  let kept: K
  try {
    const sealed = order.keep?.(evidence, run) ?? null
    if (order.keep !== undefined) await announce(op, order.names?.sealed ?? 'sealed')
    kept = await commit(op, evidence, sealed)
  } catch (error) {
    throw toldEnd(op, error)
  }
  await announce(op, 'finished')
  return kept
}

/**
 * Ends an operation that was stopped before its first step, whatever stopped it: its claim and its
 * hold do not wait for the next recovery. A defect is thrown on after that, with its stack.
 */
const endUnsent = async <C, E, K>(op: Op<C, E, K>, thrown: unknown): Promise<K> => {
  const error = toldByDisk(thrown)
  op.unsentBy = error
  const kept = await finish(op, op.order.unsent(whyUnsent(op, error)))
  if (isExpected(error)) return kept
  throw error
}

/** The decision and the hold are one record: nothing is held without the decision for it. */
const prepare = <C, E, K>(op: Op<C, E, K>): Promise<Terms> =>
  transact(op, (tx, now) => {
    requireGoing(op)
    const { order, run } = op
    const terms = order.prepare(tx, now, run)
    if (terms.hold !== null) {
      const { taskId, principal, boundMicrousd, subject } = terms.hold
      reserve(tx, now, { ...bindingOf(op), taskId, principal, bound: boundMicrousd, subject })
    }
    const { runtime, profile } = order
    openRoute(tx, run.operationId, { runtime, profile, ...order.decide(tx, now, run) })
    return terms
  })

const openKey = <C, E, K>({ ctx, order }: Op<C, E, K>): Buffer =>
  order.credential === null ? Buffer.alloc(0) : openCredential(ctx.gov, order.credential)

/** Sends what the order sends. The captured key outlives a revoke: what is owed is settled. */
const contact = async <C, E, K>(op: Op<C, E, K>, terms: Terms, key: Buffer): Promise<K> => {
  const { ctx, order, run } = op
  let session: HttpsSession | undefined
  let evidence: E
  try {
    const client = await ctx.client()
    session = order.session === true ? client.openSession?.() : undefined
    const send = makeSend(op, session ?? client)
    evidence = await order.run(send, { ...run, key, terms })
  } catch (error) {
    if (op.sent) throw toldEnd(op, error)
    return await endUnsent(op, error)
  } finally {
    session?.close()
  }
  return finish(op, evidence)
}

const underLane = async <C, E, K>(op: Op<C, E, K>): Promise<K> => {
  let key: Buffer
  try {
    await announce(op, 'slot')
    op.terms = await prepare(op)
    await announce(op, 'reserved')
    key = openKey(op)
  } catch (error) {
    return endUnsent(op, error)
  }
  try {
    return await contact(op, op.terms, key)
  } finally {
    key.fill(0)
  }
}

const waitForLane = <C, E, K>({ ctx, order, run }: Op<C, E, K>): Promise<Lane> | null => {
  const { gov, signal } = ctx
  if (order.lane === null) return null
  return gov.store.holds.lane({
    priority: order.lane, clock: gov.clock, signal, observer: gov.observer,
    deadlineMs: gov.clock.monotonicMs() + run.deadline.remainingMs(),
  })
}

const afterClaim = async <C, E, K>(op: Op<C, E, K>): Promise<K> => {
  const { order, run } = op
  let lane: Lane | null
  try {
    await announce(op, order.names?.claimed ?? 'claimed')
    const { enqueue } = order
    if (enqueue !== undefined) {
      await transact(op, (tx, now) => enqueue(tx, now, run))
      await announce(op, 'queued')
    }
    waitFor(op, 'lane', run.deadline.remainingMs())
    lane = await waitForLane(op)
    if (lane !== null) op.held.push(lane)
  } catch (error) {
    return endUnsent(op, error)
  }
  try {
    return await underLane(op)
  } finally {
    lane?.release()
  }
}

/** Makes a stop durable at once, where the order has rows for it. */
const recordStop = <C, E, K>(op: Op<C, E, K>): (() => Promise<void>) => {
  const { ctx: { signal }, order: { onStop }, run } = op
  if (onStop === undefined) return async () => undefined
  let recording: Promise<void> = Promise.resolve()
  const record = (): void => {
    recording = transact(op, (tx, now) => onStop(tx, now, run)).catch(() => undefined)
  }
  if (signal.aborted) record()
  else signal.addEventListener('abort', record, { once: true })
  return () => {
    signal.removeEventListener('abort', record)
    return recording
  }
}

/** Claims, or finds what an earlier claim came to. */
const claimRows = async <C, E, K>(
  { gov }: ContactContext, order: Order<C, E, K>, claiming: Claiming,
): Promise<Claim<C, K>> => {
  return discardUnnamed(gov.store, [order.sealed?.stored_sha256 ?? null], (tried) =>
    gov.store.transact(order.verb, tried((named, tx) => {
      const claim = order.claim(tx, nowIso(gov), claiming)
      if (claim.kind === 'claimed') named()
      return claim
    })))
}

/**
 * Runs an order to its end. Throws where no claim was made (`cancelled`, what forbids every
 * contact, what `claim` throws), where the end could not be recorded (`outcome_not_recorded` once
 * something may have been sent), and for defects; every other end is what `close` answers.
 */
export const runOrder = async <C, E, K>(ctx: ContactContext, order: Order<C, E, K>): Promise<K> => {
  const { gov, signal } = ctx
  if (signal.aborted) throw cancelled(order)
  // What forbids every contact refuses here: no claim, no hold and no attempt is left by it.
  await ctx.client()
  const operationId = newId('op')
  // Held before the claim exists, so that recovery never takes a live operation for a dead one.
  const guard = await gov.store.holds.hold('operation', operationId)
  const claiming = {
    operationId, deadline: startDeadline(gov.clock, order.operationMsMax),
    stopped: () => signal.aborted,
  }
  try {
    const claim = await claimRows(ctx, order, claiming)
    if (claim.kind === 'replayed') return claim.kept
    const op: Op<C, E, K> = {
      ctx, order, run: { ...claiming, claimed: claim.claimed }, taskId: claim.taskId ?? null,
      terms: null, sent: false, unsentBy: null, mark: null,
      fence: null, held: [guard],
    }
    const recorded = recordStop(op)
    try {
      return await afterClaim(op)
    } finally {
      await recorded()
      op.fence?.close()
      gov.observer.waits?.(null)
    }
  } finally {
    guard.release()
  }
}

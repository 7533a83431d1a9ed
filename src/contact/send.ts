/**
 * One step of an operation on its way out: its own rows, the three checks, the contact mark, the
 * deadline and the operator's stop. What comes back is a value: proof that nothing was sent, that
 * something may have been, or a judged reply. Nothing is tried again here.
 */
import { fail } from '../base/errors.js'
import { requireBound } from '../governance/ledger/post.js'
import { markContacted, recheckRow } from '../governance/ledger/steps.js'
import { contactOf, refusedBy } from '../net/contact-error.js'
import type { AuthorityPoint, HttpsClient, HttpsReply } from '../net/types.js'
import type { FreshView, Tx } from '../state/types.js'
import { requireUnstopped, unstoppedView, wireFenceOf } from './fence.js'
import {
  announce, bindingOf, requireGoing, transact, waitFor, whyUnsent, type Sending,
} from './operation.js'
import type { Boundary, Send, Sent, Step, Unsent } from './order.js'
import { persist } from './persist.js'
import { markRoute, wasContacted } from './routes.js'

const tooLate: Unsent = { kind: 'unsent', reason: 'deadline_passed', errorKind: 'locked' }

/** Every authority of the order, as of one view; answers the policy revision it rests on. */
const requireAuthority = <C>(op: Sending<C>, view: FreshView, boundary: Boundary): number => {
  requireGoing(op)
  if (boundary === 'mark') requireUnstopped(op, view)
  const { order, run } = op
  return order.authority(view, boundary, run)
}

/**
 * A bill may be asked for only while the charge of this very operation is open: as of what is known
 * here, which its own record has just been placed behind, and once more before the first byte.
 */
const requireOwed = async <C>(op: Sending<C>, point: AuthorityPoint): Promise<void> => {
  const { store } = op.ctx.gov
  const view = point === 'before_first_byte' ? await store.fresh() : store.read()
  const { state } = requireBound(view, bindingOf(op))
  if (state === 'contacted') return
  throw fail.conflict('nothing_owed', 'This operation has no open charge to read back.')
}

/** The last decision and the mark are one record: a revoke comes before it or after it. */
const markRows = <C>(op: Sending<C>, tx: Tx, now: string): void => {
  const { order, run, terms } = op
  const { operationId } = run
  if (wasContacted(tx, operationId)) {
    throw fail.conflict('already_contacted', 'This operation has contacted somebody before.')
  }
  const policyRevision = requireAuthority(op, tx, 'mark')
  if (terms !== null && terms.hold !== null) {
    recheckRow(tx, now, { ...bindingOf(op), policyRevision })
    markContacted(tx, now, bindingOf(op))
  }
  order.mark?.(tx, now, run)
  markRoute(tx, operationId, now)
  tx.mark()
}

/** An effect is decided and marked by itself, whatever the operation sent before it. */
const markEffect = <C>(op: Sending<C>, tx: Tx, now: string): void => {
  const { order, run, terms } = op
  if (terms !== null && terms.hold !== null) throw new TypeError('an effect holds no money')
  requireAuthority(op, tx, 'mark')
  if (!wasContacted(tx, run.operationId)) {
    order.mark?.(tx, now, run)
    markRoute(tx, run.operationId, now)
  }
  tx.mark()
}

/** A `full` step is marked by itself; reads of one operation share the first one's mark. */
const markContact = async <C>(op: Sending<C>, step: Step<unknown>): Promise<void> => {
  const own = (tx: Tx, now: string): void => step.mark?.(tx, now)
  if (step.authority === 'effect') {
    await transact(op, (tx, now) => {
      markEffect(op, tx, now)
      own(tx, now)
    }, { under: op.held })
    // Reads that follow share it.
    op.mark = Promise.resolve()
    return
  }
  if (step.authority === 'read' && op.mark !== null) {
    await op.mark
    if (step.mark !== undefined) await transact(op, own, { under: op.held })
    return
  }
  op.mark = transact(op, (tx, now) => {
    markRows(op, tx, now)
    own(tx, now)
  }, { under: op.held })
  try {
    await op.mark
  } catch (error) {
    op.mark = null
    throw error
  }
}

interface Stop {
  readonly signal: AbortSignal
  /** From here on a stop does not end the request any more. */
  end(): void
}

/**
 * The operator's stop, as far as it may end a request: only until the first byte may leave. From
 * then on the reply is waited for, because it tells the charge.
 */
const stopOf = (stop: AbortSignal): Stop => {
  const controller = new AbortController()
  const onStop = (): void => controller.abort()
  if (stop.aborted) onStop()
  stop.addEventListener('abort', onStop, { once: true })
  return { signal: controller.signal, end: () => stop.removeEventListener('abort', onStop) }
}

interface Going<C, Verdict> {
  readonly op: Sending<C>
  readonly step: Step<Verdict>
  readonly client: HttpsClient
  readonly request: ReturnType<Step<Verdict>['request']>
  readonly timeoutMs: number
}

/** Asked before look-up, dial and first byte, on a view of that moment. */
const askedOf = <C>(
  { op, step, timeoutMs }: Going<C, unknown>, stop: Stop,
) => async (point: AuthorityPoint): Promise<void> => {
  // The last one is announced before its fence is taken.
  if (point !== 'before_first_byte') await announce(op, point)
  if (point === 'before_resolve') waitFor(op, 'connection', timeoutMs)
  requireAuthority(op, await unstoppedView(op), 'check')
  if (point !== 'before_first_byte') return
  if (step.authority !== 'read') stop.end()
  waitFor(op, 'reply', timeoutMs, true)
}

/** The head in the place of a reply whose body was refused, where the step goes by it. */
const headOr = <C>({ step }: Going<C, unknown>) => (error: unknown): HttpsReply => {
  const head = refusedBy(error)
  if (head === null || step.judgesHead?.(head) !== true) throw error
  return head
}

const exchange = async <C>(going: Going<C, unknown>, stop: Stop): Promise<HttpsReply> => {
  const { op, step, client, request, timeoutMs } = going
  if (step.authority === 'owed') {
    waitFor(op, 'bill', step.stageMs?.() ?? timeoutMs, true)
    return client.request({
      ...request, timeoutMs, authority: (point) => requireOwed(op, point),
      // The charge was marked when it came about; this reads it, whatever was stopped meanwhile.
      markContact: () => undefined,
    }).catch(headOr(going))
  }
  const reply = await client.request({
    ...request, timeoutMs, signal: stop.signal,
    authority: askedOf(going, stop),
    fence: wireFenceOf(op),
    markContact: async () => {
      await announce(op, 'contact_begin')
      await markContact(op, step)
      await announce(op, 'contact_intent')
    },
  }).catch(headOr(going))
  await announce(op, 'replied')
  return reply
}

const go = async <C, V>(going: Going<C, V>): Promise<Sent<V>> => {
  const { op, step } = going
  const stop = stopOf(op.ctx.signal)
  try {
    const reply = await exchange(going, stop)
    return { kind: 'reply', status: reply.status, verdict: step.judge(reply) }
  } catch (error) {
    const unsent = whyUnsent(op, error)
    return contactOf(error) === 'none'
      ? { ...unsent, tried: true } : { kind: 'sent', reason: unsent.reason, cause: unsent.cause }
  } finally {
    stop.end()
  }
}

/** Milliseconds that a step may take of what is left now; null when it is too late for it. */
const timeOf = <C>({ run }: Sending<C>, step: Step<unknown>): number | null =>
  step.timeoutMs(run.deadline.remainingMs())

/** Rows of an owed step are durable before it is tried; null when nothing keeps it back. */
const keptBack = async <C>(op: Sending<C>, step: Step<unknown>): Promise<Unsent | null> => {
  const { gov } = op.ctx
  if (step.authority !== 'owed') return null
  try {
    await persist(gov, op.order.verb, () => timeOf(op, step) ?? 0, (tx, now) =>
      step.mark?.(tx, now))
  } catch (error) {
    const why = whyUnsent(op, error)
    if (why.reason === 'unexpected') throw error
    return why
  }
  if (timeOf(op, step) === null) return tooLate
  if (step.name !== undefined) await announce(op, step.name)
  return null
}

const sendStep = async <C, V>(
  op: Sending<C>, client: HttpsClient, step: Step<V>,
): Promise<Sent<V>> => {
  const back = await keptBack(op, step)
  if (back !== null) return back
  let request: Going<C, V>['request']
  try {
    request = step.request()
  } catch (error) {
    return whyUnsent(op, error)
  }
  const timeoutMs = timeOf(op, step)
  return timeoutMs === null ? tooLate : go({ op, step, client, request, timeoutMs })
}

/** The way out of one operation, over one client. */
export const makeSend = <C>(op: Sending<C>, client: HttpsClient): Send => async (step) => {
  const wire = await sendStep(op, client, step)
  if (wire.kind !== 'unsent') op.sent = true
  else op.unsentBy = wire.cause
  const { record } = step
  if (record !== undefined) {
    await persist(op.ctx.gov, op.order.verb, () => op.run.deadline.remainingMs(), (tx, now) =>
      record(tx, now, wire))
  }
  return wire
}

/** What the parts of the engine share about the one operation that they run. */
import { nowIso } from '../governance/context.js'
import { fail, SallyportError } from '../base/errors.js'
import type { WaitsFor } from '../base/observer.js'
import type { SendFence } from '../state/holds/holds.js'
import { ContactError } from '../net/contact-error.js'
import type { Binding } from '../governance/ledger/post.js'
import { errnoOf, ioFailure } from '../state/files.js'
import type { Turn, Tx } from '../state/types.js'
import type { ContactContext, Order, Running, Terms, Unsent } from './order.js'

/** A claimed order with what has become of it so far. */
export interface Operation<Claimed, Evidence, Kept> {
  readonly ctx: ContactContext
  readonly order: Order<Claimed, Evidence, Kept>
  readonly run: Running<Claimed>
  readonly taskId: string | null
  /** Set once it is prepared. */
  terms: Terms | null
  /** Whether a request byte of any step may have left. */
  sent: boolean
  /** What kept the last step from being sent. */
  unsentBy: unknown
  /** The contact mark, once it was begun. */
  mark: Promise<void> | null
  /** What its requests pass on their way out, once one was about to leave. */
  fence: SendFence | null
  /** Its guard and, once it has it, the lane: without them nothing may leave. */
  readonly held: object[]
}

/** Any operation, for what looks into nothing that an order brings of its own. */
interface AnyOperation {
  readonly ctx: ContactContext
  readonly order: Pick<
    Order<never, never, never>,
    'step' | 'noun' | 'verb' | 'runtime' | 'profile' | 'operationMsMax'
  >
  readonly run: Running<unknown>
  readonly taskId: string | null
  sent: boolean
}

/** What a step needs of its operation. */
export interface Sending<Claimed> extends AnyOperation {
  readonly order: AnyOperation['order'] &
    Pick<Order<Claimed, never, never>, 'authority' | 'mark' | 'party' | 'covered'>
  readonly run: Running<Claimed>
  readonly terms: Terms | null
  unsentBy: unknown
  mark: Promise<void> | null
  fence: SendFence | null
  readonly held: readonly object[]
}

/** Announces a step and waits for whoever watches. */
export const announce = ({ ctx, order }: AnyOperation, word: string): void | Promise<void> =>
  ctx.gov.observer.at(`${order.step}.${word}`)

/** Says what is waited for from now on, at most `ms` milliseconds. */
export const waitFor = (
  { ctx: { gov }, order, run, taskId, sent }: AnyOperation, what: WaitsFor, ms: number,
  mayHaveLeft = sent,
): void => gov.observer.waits?.({
  step: order.step, operationId: run.operationId, taskId, for: what, sent: mayHaveLeft,
  untilMs: gov.clock.monotonicMs() + ms,
})

/** A transaction of the operation, with the time of its record. */
export const transact = <T>(
  { ctx: { gov }, order }: AnyOperation, fn: (tx: Tx, now: string) => T, turn?: Turn,
): Promise<T> => gov.store.transact(order.verb, (tx) => fn(tx, nowIso(gov)), turn)

/** What every ledger step of the operation names. */
export const bindingOf = ({ run, order }: AnyOperation): Binding => ({
  operationId: run.operationId, runtime: order.runtime, profile: order.profile,
})

/** The error of an order that the operator stopped before anything was sent. */
export const cancelled = ({ noun }: { readonly noun: string }): SallyportError =>
  fail.cancelled(`${noun}_cancelled`, 'The request was cancelled before contact.')

/** Throws `cancelled` after a stop and `locked` `deadline_passed` when the time is over. */
export const requireGoing = ({ run, order }: AnyOperation): void => {
  if (run.stopped()) throw cancelled(order)
  if (run.deadline.remainingMs() > 0) return
  const seconds = order.operationMsMax / 1_000
  throw fail.locked(
    'deadline_passed', `The deadline of ${seconds} seconds passed before contact.`,
    { reason: 'deadline_passed', next: 'Nothing was sent. Try again.' },
  )
}

/** The operator's stop, as waits and the client throw it. */
const isStop = (error: unknown): boolean =>
  (error instanceof Error && error.name === 'AbortError')
  || (error instanceof ContactError && error.code === 'cancelled')

/** Whether an error is an expected end of an operation; any other is a defect. */
export const isExpected = (error: unknown): boolean =>
  error instanceof SallyportError || isStop(error)

/**
 * An error of this machine's own files (a guard, a fence, a key) as the program's: what keeps a
 * request back here is never taken for the way to the host. Everything else goes on as it is.
 */
export const toldByDisk = (error: unknown): unknown =>
  (error instanceof Error && 'syscall' in error && /^E[A-Z0-9]+$/.test(errnoOf(error))
    ? ioFailure(error, 'on the way out of a request') : error)

/** Why nothing was sent, from the error that stopped it before a request byte left. */
export const whyUnsent = ({ order }: AnyOperation, thrown: unknown): Unsent => {
  const error = toldByDisk(thrown)
  const told = isStop(error) ? cancelled(order) : error
  if (!(told instanceof SallyportError)) {
    return { kind: 'unsent', reason: 'unexpected', errorKind: 'failed', cause: error }
  }
  const reason = told.reason ?? told.code
  const cause = error instanceof SallyportError ? error : told
  return { kind: 'unsent', reason, errorKind: told.kind, cause }
}

import type { Running } from '../../contact/order.js'
import type { Session } from '../../governance/context.js'
import type { Task } from '../../governance/rows.js'
import type { AlphaContext } from '../context.js'
import type { AlphaTextInput } from '../input.js'

/** Who asks, and with what. */
export interface Asking {
  readonly ctx: AlphaContext
  readonly session: Session
}

/** What the claim of an ask made. */
export interface AskClaim {
  readonly taskId: string
  readonly input: AlphaTextInput
}

/** One admitted ask while its process runs it. Plaintext lives here and nowhere else. */
export interface AskOperation extends Asking, Omit<Running<AskClaim>, 'claimed'>, AskClaim {}

/** An admitted ask, from the engine's run of it. */
export const operationOf = (
  asking: Asking, { claimed, ...running }: Running<AskClaim>,
): AskOperation => ({ ...asking, ...running, ...claimed })

/**
 * Whether a stop of this process is a wish of whoever asks: at a terminal alone. A service that is
 * stopped was asked by nobody to cancel: it reads what it has sent to its end, and keeps it.
 */
export const stopIsCancel = ({ ctx: { gov } }: Asking): boolean => gov.face === 'cli'

/**
 * Whether the ask is to end as cancelled: a cancel stands on its row, here or from another process,
 * or this process was stopped. `sent`: its request may have left.
 */
export const cancelWanted = (operation: AskOperation, task: Task, sent = false): boolean =>
  task.cancel_requested_at !== null
  || (operation.stopped() && (!sent || stopIsCancel(operation)))

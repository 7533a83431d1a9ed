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

/** Whether an operator's cancel, here or from another process, stands on the row. */
export const cancelWanted = (operation: AskOperation, task: Task): boolean =>
  task.cancel_requested_at !== null || operation.stopped()

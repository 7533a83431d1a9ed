import type { Session } from '../../governance/session/types.js'
import type { Task } from '../../governance/rows.js'
import type { Deadline } from '../../net/remaining.js'
import { alphaChargeSources, alphaProfile, alphaRuntime } from '../constants.js'
import type { AlphaContext } from '../context.js'
import type { AlphaTextInput } from '../input.js'

/** One admitted ask while its process runs it. Plaintext lives here and nowhere else. */
export interface AskOperation {
  readonly ctx: AlphaContext
  readonly session: Session
  readonly taskId: string
  readonly operationId: string
  readonly input: AlphaTextInput
  /** The whole operation's, queue included; it only ever shrinks. */
  readonly deadline: Deadline
  /** This process's mark in the lease. */
  readonly holder: string
}

/** What every ledger step of an ask names. */
export const bindingOf = (operation: AskOperation) => ({
  operationId: operation.operationId,
  runtime: alphaRuntime,
  profile: alphaProfile,
  sources: alphaChargeSources,
}) as const

/** Whether an operator's cancel, here or from another process, stands on the row. */
export const cancelWanted = (operation: AskOperation, task: Task): boolean =>
  task.cancel_requested_at !== null || operation.ctx.signal.aborted

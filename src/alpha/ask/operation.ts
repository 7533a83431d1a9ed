import type { Session } from '../../governance/session/types.js'
import type { Task } from '../../governance/rows.js'
import { alphaLimits, alphaProfile, alphaRuntime } from '../constants.js'
import type { AlphaContext } from '../context.js'
import type { AlphaTextInput } from '../input.js'

/** One admitted ask while its process runs it. Plaintext lives here and nowhere else. */
export interface AskOperation {
  readonly ctx: AlphaContext
  readonly session: Session
  readonly taskId: string
  readonly operationId: string
  readonly input: AlphaTextInput
  /** Monotonic milliseconds at which the whole operation ends, queue included. */
  readonly endsAtMs: number
  /** Wall deadline as stored; a wall clock that steps back cannot lengthen it. */
  readonly deadlineAtMs: number
  /** This process's mark in the lease. */
  readonly holder: string
}

/** What every ledger step of an ask names. */
export const bindingOf = (operation: AskOperation) => ({
  operationId: operation.operationId,
  runtime: alphaRuntime,
  profile: alphaProfile,
}) as const

/** Milliseconds left of the operation: the lesser of both clocks' answers, never below 0. */
export const remainingMs = (operation: AskOperation): number => {
  const { clock } = operation.ctx.gov
  const monotonic = operation.endsAtMs - clock.monotonicMs()
  const wall = operation.deadlineAtMs - clock.wallMs()
  return Math.max(0, Math.min(monotonic, wall, alphaLimits.operationMsMax))
}

/** Whether an operator's cancel, here or from another process, stands on the row. */
export const cancelWanted = (operation: AskOperation, task: Task): boolean =>
  task.cancel_requested_at !== null || operation.ctx.signal.aborted

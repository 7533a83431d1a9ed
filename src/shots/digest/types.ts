import type { DueFacts } from '../money.js'
import type { Episode } from './rows.js'

/** What became of one window. `not_repeated`: it was tried with these very inputs before. */
export const windowOutcomes = [
  'written', 'updated', 'unchanged', 'empty', 'not_repeated', 'blocked', 'failed',
] as const
export type WindowOutcome = (typeof windowOutcomes)[number]

/** One window of a tick; `reason` tells why nothing was written. */
export interface WindowResult extends DueFacts {
  readonly window_start: string
  readonly window_end: string
  readonly outcome: WindowOutcome
  readonly reason: string | null
  /** Observations of the window that a digest may be made from. */
  readonly observation_count: number
  /** The episode that stands for the window now, new or old; null when there is none. */
  readonly episode: Episode | null
  readonly operation_id: string | null
  readonly cost_microusd: number | null
}

/** Receipt of the job `screenshot_observation_digest`: the episodes that it wrote (S-142). */
export interface DigestReceipt {
  readonly job: 'screenshot_observation_digest'
  /** Null where the job is switched off or the receipt could not be recorded. */
  readonly receipt_id: string | null
  readonly status: 'ok' | 'disabled' | 'blocked' | 'degraded'
  readonly reason: string | null
  /** At most four; those that asked for work come first. */
  readonly windows: readonly WindowResult[]
  readonly written: number
  readonly updated: number
  readonly unchanged: number
  readonly not_repeated: number
  readonly blocked: number
  readonly failed: number
  /** Held for charges that nobody knows, micro-USD. */
  readonly held_microusd: number
  readonly duration_ms: number
}

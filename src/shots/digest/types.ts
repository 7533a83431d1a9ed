import type { DigestRow } from './rows.js'

/** What became of one window. */
export const windowOutcomes = [
  'written', 'updated', 'unchanged', 'empty', 'not_repeated', 'blocked', 'failed',
] as const
export type WindowOutcome = (typeof windowOutcomes)[number]

/** One window of a tick; `reason` tells why nothing was written. */
export interface WindowResult {
  readonly window_start: string
  readonly window_end: string
  readonly outcome: WindowOutcome
  readonly reason: string | null
  readonly observation_count: number
  /** The episode that stands for the window, new or old; null when there is none. */
  readonly episode: DigestRow | null
  readonly operation_id: string | null
  readonly cost_microusd: number | null
}

/** Receipt of the job `screenshot_observation_digest`: the episodes that it wrote (S-142). */
export interface DigestReceipt {
  readonly job: 'screenshot_observation_digest'
  readonly receipt_id: string | null
  readonly enabled: boolean
  readonly windows: readonly WindowResult[]
  readonly written: number
  readonly updated: number
  readonly unchanged: number
  readonly failed: number
  readonly blocked: number
  readonly duration_ms: number
}

/**
 * Ticks that had nothing to do. A scheduler has hundreds of them a day: they renew one row a job,
 * outside the chain, and the next receipt of that job carries it in. Receipts of nothing done that
 * earlier programs wrote, and those of a gate that stood closed, a person may have removed.
 */
import type { Tx } from '../../state/types.js'
import type { AnalysisFacts } from './analysis.js'
import type { StoredDigest } from './digest.js'
import {
  receiptCollections as c, type IdleTicks, type ReceiptFacts, type ShotReceipt,
} from './receipt-rows.js'

type StoredAnalysis = ReceiptFacts<'screenshot_folder_analysis'>

const didNothing = (facts: AnalysisFacts | StoredAnalysis): boolean =>
  facts.scheduled && facts.items.length === 0 && facts.scanned === 0 && facts.restored === 0
  && facts.needs_reanalysis === 0 && facts.stale_root === 0 && facts.cost_microusd === 0
  && (facts.held_microusd ?? 0) === 0 && (facts.proof_renewal ?? null) === null

const quietOutcomes: readonly string[] = ['unchanged', 'empty', 'not_repeated']

const wroteNothing = (facts: StoredDigest): boolean =>
  facts.written === 0 && facts.updated === 0 && facts.blocked === 0 && facts.failed === 0
  && (facts.held_microusd ?? 0) === 0 && (facts.proof_renewal ?? null) === null
  && facts.windows.every(({ outcome, operation_id: operation }) =>
    quietOutcomes.includes(outcome) && operation === null)

/** Nothing is wrong, or what is was told by the tick that the gateway refused. */
const isQuiet = ({ status, paused_until: until }: StoredDigest): boolean =>
  status === 'ok' || (status === 'blocked' && (until ?? null) !== null)

/**
 * Whether an analysis tick found nothing to do. A gate that stands closed is told by its rows, and
 * by the exit status of each tick, and once more by none of their receipts. Pure.
 */
export const isIdleAnalysis = (facts: AnalysisFacts): boolean =>
  facts.status !== 'degraded' && didNothing(facts)

/** Whether a digest tick had nothing to write. Pure. */
export const isIdleDigest = (facts: StoredDigest): boolean =>
  isQuiet(facts) && wroteNothing(facts)

/**
 * Whether a receipt tells of nothing done: no image or window was worked on, nothing was sent, and
 * nothing had gone wrong. One of a scan never does: a scan that finds nothing writes none. Pure.
 */
export const isIdleReceipt = ({ job, facts, idle }: ShotReceipt): boolean => {
  if (idle !== undefined || facts.status === 'degraded') return false
  if (job === 'screenshot_folder_analysis') return didNothing(facts)
  return job === 'screenshot_observation_digest' && wroteNothing(facts)
}

/** Counts an idle tick in the one row of its job. */
export const noteIdleTick = (tx: Tx, now: string, job: ShotReceipt['job']): IdleTicks => {
  const before = tx.get(c.idle, job)
  const row: IdleTicks = {
    since: before?.since ?? now, ticks: (before?.ticks ?? 0) + 1, last: now,
  }
  tx.put(c.idle, job, row)
  return row
}

/** Takes the row of a job out, for the receipt that carries it in. */
export const takeIdleTicks = (tx: Tx, job: ShotReceipt['job']): IdleTicks | undefined => {
  const row = tx.get(c.idle, job)
  if (row !== undefined) tx.remove(c.idle, job)
  return row
}

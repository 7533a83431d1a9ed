/**
 * Ends analyses whose process ended before it wrote their outcome. Recovery has settled the money;
 * here the observations follow it: one that was provably not sent goes back to what it was, any
 * other is failed and uncertain and is never sent again by itself (S-168). A call whose process
 * still runs is left alone.
 */
import { claimCollection, claimStatus, type CallClaim } from '../../gateway/call/claims.js'
import { nowIso, type Gov } from '../../governance/context.js'
import type { Tx } from '../../state/types.js'
import { putObservation } from '../observations/observation-store.js'
import { shotCollections, type Observation } from '../observations/observation-rows.js'
import { rowInterrupted, rowReturned, rowTakenOver } from './outcome.js'
import { runningCollection, type RunningAnalysis } from './analysis-rows.js'

/** Observations that were resolved, by what became of them. */
interface SettledAnalyses {
  readonly returned: readonly string[]
  readonly uncertain: readonly string[]
}

const isRunning = (gov: Gov, tx: Pick<Tx, 'get'> & Parameters<typeof claimStatus>[1],
  one: RunningAnalysis): boolean => {
  const claim = tx.get(claimCollection, one.input_digest)
  return claimStatus(gov.store, tx, claim) === 'running'
}

/**
 * The row of a call that may have been sent. One that has ended is known, though this row saw no
 * end of it: a copy that was made meanwhile was put back, and the claim was carried over.
 */
const rowOfSent = (
  row: Observation, claim: CallClaim | undefined, now: string,
): Observation => {
  const interrupted = rowInterrupted(row, now)
  if (claim === undefined || claim.ended === null) return interrupted
  const { ended, operation_id, input_digest } = claim
  return rowTakenOver(interrupted, {
    operationId: operation_id, inputDigest: input_digest, outcome: ended.outcome,
    uncertain: ended.outcome === 'charge_unknown', reason: ended.reason, payload: null,
  }, now)
}

const settleOne = (
  gov: Gov, tx: Tx, now: string, one: RunningAnalysis,
): 'returned' | 'uncertain' => {
  const claim = tx.get(claimCollection, one.input_digest)
  const standing = claimStatus(gov.store, tx, claim)
  const sent = standing !== 'interrupted' && standing !== 'not_contacted'
  const row = tx.get(shotCollections.observations, one.observation_id)
  tx.remove(runningCollection, one.observation_id)
  if (row !== undefined && row.analyzer.operation_id === one.operation_id) {
    putObservation(tx, now,
      sent ? rowOfSent(row, claim, now) : rowReturned(row, one.before, now))
  }
  return sent ? 'uncertain' : 'returned'
}

/** Resolves them; takes the lock only when a look without it found some. */
export const settleAnalyses = async (gov: Gov): Promise<SettledAnalyses> => {
  const view = gov.store.read()
  const dead = view.all(runningCollection).filter(({ doc }) => !isRunning(gov, view, doc))
  if (dead.length === 0) return { returned: [], uncertain: [] }
  return gov.store.transact('shots analyze', (tx) => {
    const now = nowIso(gov)
    const report = { returned: [] as string[], uncertain: [] as string[] }
    for (const { id, doc } of tx.all(runningCollection)) {
      if (!isRunning(gov, tx, doc)) report[settleOne(gov, tx, now, doc)].push(id)
    }
    return report
  })
}

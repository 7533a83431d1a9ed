/** Records that change rows without a call. */
import { nowIso } from '../../governance/context.js'
import type { Tx } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { gateTextOf } from '../gates.js'
import { putObservation } from '../observations/observation-store.js'
import { transactCounted } from '../locked.js'
import { shotCollections as c, type Observation } from '../observations/observation-rows.js'
import { withoutSource } from './outcome.js'

const waiting = (row: Observation): boolean =>
  row.analysis_status === 'pending' || row.analysis_status === 'blocked'

const change = (
  tx: Tx, now: string, id: string, next: (row: Observation) => Observation,
): boolean => {
  const row = tx.get(c.observations, id)
  const still = row !== undefined && row.archived_at === null
    && row.analyzer.contact !== 'claimed'
  if (!still) return false
  const changed = next(row)
  if (changed !== row) putObservation(tx, now, changed)
  return true
}

/**
 * Blocks rows for a reason, or gives blocked ones this reason. A missing or stale proof consumes
 * one attempt of each (S-153); what was analysed or failed keeps its status.
 */
export const blockRows = (
  ctx: ShotsContext, ids: readonly string[], reason: string,
): Promise<void> =>
  transactCounted(ctx.gov, 'shots analyze', (tx) => {
    const now = nowIso(ctx.gov)
    const attempt = reason.startsWith('proof_') ? 1 : 0
    for (const id of ids) {
      change(tx, now, id, (row) => (!waiting(row) ? row : {
        ...row, analysis_status: 'blocked',
        analyzer: {
          ...row.analyzer, reason, detail: gateTextOf(reason)?.text ?? null,
          attempts: row.analyzer.attempts + attempt, updated_at: now,
        },
      }))
    }
  })

/** Writes down that the image is at none of its paths any more. */
export const markMissing = (ctx: ShotsContext, id: string): Promise<void> =>
  transactCounted(ctx.gov, 'shots analyze', (tx) => {
    const now = nowIso(ctx.gov)
    change(tx, now, id, withoutSource)
  })

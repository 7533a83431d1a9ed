/**
 * Clear Stale: archives incomplete rows of folders that are not the current one (S-163, S-164). An
 * archived row stays on disk and in the historical count and leaves everything active.
 */
import * as v from 'valibot'
import { count } from '../base/schema.js'
import { contract } from '../base/contract.js'
import { fail } from '../base/errors.js'
import { appendAudit } from '../governance/audit.js'
import { nowIso, type Session } from '../governance/context.js'
import type { Tx, View } from '../state/types.js'
import { settleAnalyses } from './analysis/settle.js'
import type { ShotsContext } from './context.js'
import {
  classificationNow, currentFacts, rowClassificationNow, type CurrentFacts,
} from './observations/as-of-now.js'
import { findObservations } from './observations/find.js'
import { putObservation } from './observations/observation-store.js'
import { locateFolder } from './source/folder.js'
import { shotCollections as c, type CountKey } from './observations/observation-rows.js'
import { savedSettings } from './source/settings.js'

const clearStaleShape = v.strictObject({
  /** The folder that stays; rows of others were looked at. */
  current_root: v.string(),
  archived: count,
  /** Left alone, because a paid request of theirs is under way. */
  skipped_active: count,
})
/** How many were archived. */
export type ClearStaleReceipt = v.InferOutput<typeof clearStaleShape>

/** Archiving incomplete observations of earlier folders. */
export const shotsClearStale = contract({ name: 'shots.clear-stale', output: clearStaleShape })

/** Rows of one record: the lock is never held for long. */
const rowsPerRecord = 500

/** How many rows are stale now, from counters. */
const countStale = (view: View, now: CurrentFacts): number =>
  view.all(c.counts)
    .filter(({ doc }) => !doc.archived && classificationNow(doc, now) === 'stale_root')
    .reduce((sum, { doc }) => sum + doc.count, 0)

/** The same for the folder that is in force. Throws `rejected` where none may be. */
export const staleNow = (ctx: ShotsContext, view: View): number => {
  locateFolder(ctx, savedSettings(view))
  return countStale(view, currentFacts(ctx, view))
}

const staleIds = (view: View, now: CurrentFacts): string[] => {
  const ids: string[] = []
  const meant = (key: CountKey): boolean => classificationNow(key, now) === 'stale_root'
  for (const row of findObservations(view, { meant })) ids.push(row.observation_id)
  return ids
}

interface Done { archived: number, skipped: number }

/** Archives a page of rows, each judged anew within the record. */
const archivePage = (
  ctx: ShotsContext, tx: Tx, session: Session, ids: readonly string[],
): Done => {
  const now = nowIso(ctx.gov)
  const current = currentFacts(ctx, tx)
  const done = { archived: 0, skipped: 0 }
  for (const id of ids) {
    const row = tx.get(c.observations, id)
    if (row === undefined || row.archived_at !== null) continue
    if (rowClassificationNow(row, current) !== 'stale_root') continue
    // Analyses of ended processes were settled before, so the process of this one still runs.
    if (row.analyzer.contact === 'claimed') {
      done.skipped += 1
      continue
    }
    putObservation(tx, now, { ...row, classification: 'stale_root', archived_at: now })
    done.archived += 1
  }
  if (done.archived > 0) {
    tx.mark()
    appendAudit(tx, now, {
      what: 'shots.stale_archived', principal: session.principal.principal_id,
      root: session.root.root_id, subject: null, facts: { archived: done.archived },
    })
  }
  return done
}

/**
 * Archives every stale row. Throws `rejected` where no folder is in force: without one nothing can
 * be called older. A stop in between leaves the rest for the next time.
 */
export const clearStale = async (
  ctx: ShotsContext, session: Session,
): Promise<ClearStaleReceipt> => {
  const { store } = ctx.gov
  await settleAnalyses(ctx.gov)
  const view = store.read()
  const { folder } = locateFolder(ctx, savedSettings(view))
  const ids = staleIds(view, currentFacts(ctx, view))
  const total = { archived: 0, skipped: 0 }
  for (let at = 0; at < ids.length; at += rowsPerRecord) {
    if (ctx.signal.aborted) {
      throw fail.cancelled('interrupted', 'Stopped; the rest is still stale.', {
        details: { archived: total.archived },
      })
    }
    const page = ids.slice(at, at + rowsPerRecord)
    const done = await store.transact('shots clear-stale', (tx) =>
      archivePage(ctx, tx, session, page))
    total.archived += done.archived
    total.skipped += done.skipped
  }
  return { current_root: folder, archived: total.archived, skipped_active: total.skipped }
}

/**
 * Writing down what rows mean now, in small records: blocked rows whose reason is gone become
 * pending, newest day first and bounded; analyses of an older model, prompt or schema need
 * reanalysis; rows of another folder are stale. Looking never writes any of this.
 */
import { nowIso } from '../../governance/context.js'
import { ledgerFacts } from '../../governance/ledger/facts.js'
import { balances } from '../../governance/ledger/find-reservation.js'
import type { Tx, View } from '../../state/types.js'
import { budgetStatus, callsLeft } from '../budget.js'
import { captureReason, isFinalOfCapture, type CaptureReason } from '../captures/gate.js'
import { isLookedAt, isTakenUp } from '../captures/places.js'
import { captureUnreadable } from '../constants.js'
import type { ShotsContext } from '../context.js'
import {
  classificationNow, currentFacts, rowClassificationNow, rowStatusNow, statusNow, type CurrentFacts,
} from '../observations/as-of-now.js'
import { findObservations } from '../observations/find.js'
import { newestDayFirst } from '../observations/newest-day.js'
import { consentReaches, imageBound, isProofReason, type RouteStatus } from '../gates.js'
import { putObservation } from '../observations/observation-store.js'
import { transactCounted } from '../locked.js'
import {
  shotCollections as c, type CountKey, type Observation,
} from '../observations/observation-rows.js'
import { isRecursive, savedSettings } from '../source/settings.js'
import { afterEarlierCall, failedBefore } from './earlier-call.js'
import { isHeld, unsettled } from '../observations/unsettled.js'
import { isRowSelected, readForUpload } from './privacy.js'

/** Rows that one record changes at most: the lock is never held for long. */
const rowsPerTick = 1_000

const unreadable = 'file_unreadable'

/** Reasons that no change of settings takes away. */
export const lasting = (reason: string | null): boolean =>
  reason === unsettled || isFinalOfCapture(reason) || reason === 'before_consent'
  || reason === unreadable || reason === captureUnreadable
  || (reason ?? '').startsWith('image_')

/** Files that could not be read and are tried again in one pass, at most. */
const readsPerTick = 100

/**
 * How many of them are passed over: where they are more than one pass tries, each minute has others
 * of them, so that no number of files which stay unreadable keeps the rest from their turn.
 */
const firstTurn = (view: View, nowMs: number): number => {
  const all = view.all(c.counts).reduce((sum, { doc: { reason, count } }) =>
    (reason === unreadable ? sum + count : sum), 0)
  const turns = Math.ceil(all / readsPerTick)
  return turns < 2 ? 0 : (Math.floor(nowMs / 60_000) % turns) * readsPerTick
}

/**
 * Answers whether a file that could not be read can be now (or is gone, which is told as such).
 * It is read whole, as to send it, so that one which stays unreadable takes no image's place.
 */
const readableAgain = (ctx: ShotsContext, view: View): ((row: Observation) => boolean) => {
  const recursive = isRecursive(savedSettings(view))
  const first = firstTurn(view, ctx.gov.clock.wallMs())
  let looks = 0
  return (row) => {
    if (row.analyzer.reason !== unreadable) return false
    looks += 1
    if (looks <= first || looks > first + readsPerTick) return false
    const verdict = readForUpload(row, ctx.gov.clock.wallMs(), recursive)
    return verdict.kind !== 'refused' || verdict.reason !== unreadable
  }
}

/** Whether the ledger has room for one more image. */
const ledgerHasRoom = (view: View, boundMicrousd: number): boolean => {
  return ledgerFacts(view).ok && balances(view).available_microusd >= boundMicrousd
}

/**
 * Which reasons of blocked rows hold although every gate of the route is open; null where that
 * differs from row to row.
 */
export const reasonHolds = (
  ctx: ShotsContext, view: View, standing: RouteStatus,
): ((reason: string | null) => boolean | null) => {
  const { route } = standing
  if (route === null) return () => true
  const saved = savedSettings(view)
  const bound = imageBound(saved, route.setup)
  const budget = budgetStatus(view, ctx.gov.clock.wallMs(), saved)
  const exhausted = callsLeft(budget, bound) === 0
  const noRoom = !ledgerHasRoom(view, bound)
  const recursive = isRecursive(saved)
  return (reason) => {
    if (lasting(reason)) return true
    if (reason === 'recursive_off') return recursive ? false : null
    if (reason === 'device_not_named') return null
    if (isProofReason(reason)) return standing.proof !== 'current'
    if (reason === 'budget_exhausted') return exhausted
    return reason === 'ceiling_exceeded' && noRoom
  }
}

/** Why a row that a device captured stays here as of a view; null for all others. */
export const keptNow = (
  view: View, { consentId }: RouteStatus, { edge }: Pick<Observation, 'edge'>,
): CaptureReason | null => (edge === undefined ? null : captureReason(view, edge, consentId))

/** Whether nothing but a proof and a budget keeps rows here, while all other gates are open. */
export const isReady = (
  view: View, standing: RouteStatus,
): ((row: Observation) => boolean) => {
  const { route } = standing
  const recursive = isRecursive(savedSettings(view))
  return (row) => route !== null && consentReaches(route.consent, row)
    && isRowSelected(row, recursive) && keptNow(view, standing, row) === null
}

/** The same of rows: one in a subfolder may have got a name outside of it since. */
export const stillHolds = (
  ctx: ShotsContext, view: View, standing: RouteStatus,
): ((row: Observation) => boolean) => {
  const holds = reasonHolds(ctx, view, standing)
  return (row) => keptNow(view, standing, row) !== null
    || (holds(row.analyzer.reason) ?? !isRowSelected(row, false))
}

interface Found {
  readonly restore: readonly string[]
  /** Those that stay here, and why. */
  readonly stays: ReadonlyMap<string, string>
  /** They wait for a retry that somebody asks for, and for nothing else. */
  readonly uncertain: readonly string[]
}

const nothing: Found = { restore: [], stays: new Map(), uncertain: [] }

const findBlocked = (
  ctx: ShotsContext, view: View, standing: RouteStatus, now: CurrentFacts, limit: number,
): Found => {
  const { route } = standing
  if (route === null || now.folderDigest === null) return nothing
  const holds = stillHolds(ctx, view, standing)
  const isReadable = readableAgain(ctx, view)
  const [restore, uncertain]: [string[], string[]] = [[], []]
  const stays = new Map<string, string>()
  const stay = ({ observation_id: id, analyzer }: Observation, reason: string): void => {
    if (stays.size < rowsPerTick && analyzer.reason !== reason) stays.set(id, reason)
  }
  const blocked = {
    statuses: ['blocked'] as const, meant: isLookedAt(view, standing, now.folderDigest),
  }
  for (const row of newestDayFirst(ctx, view, blocked)) {
    if (restore.length >= limit) break
    if (rowClassificationNow(row, now) !== null) continue
    if (failedBefore(view, row)) {
      if (uncertain.length < rowsPerTick) uncertain.push(row.observation_id)
      continue
    }
    const kept = keptNow(view, standing, row)
    if (kept !== null) {
      stay(row, kept)
      continue
    }
    const reaches = consentReaches(route.consent, row)
    if (holds(row) && !(reaches && isReadable(row))) continue
    if (reaches) restore.push(row.observation_id)
    else stay(row, 'before_consent')
  }
  return { restore, stays, uncertain }
}

const setStatus = (
  tx: Tx, now: string, id: string, status: 'pending' | 'blocked', reason: string | null,
): boolean => {
  const row = tx.get(c.observations, id)
  if (row === undefined || row.analysis_status !== 'blocked' || row.archived_at !== null) {
    return false
  }
  const analyzer = { ...row.analyzer, reason, detail: null, updated_at: now }
  putObservation(tx, now, { ...row, analysis_status: status, analyzer })
  return true
}

/**
 * Waiting rows whose bytes were sent before become what that request made of them: failed, or
 * analysed where its analysis is here.
 */
export const returnUncertain = async (
  ctx: ShotsContext, ids: readonly string[],
): Promise<void> => {
  if (ids.length === 0) return
  await transactCounted(ctx.gov, 'shots analyze', (tx) => {
    const now = nowIso(ctx.gov)
    for (const id of ids) {
      const row = tx.get(c.observations, id)
      const meant = row !== undefined && row.archived_at === null
        && row.analyzer.contact !== 'claimed'
      if (!meant) continue
      const next = afterEarlierCall(ctx, tx, row, now)
      if (next !== row) putObservation(tx, now, next)
    }
  })
}

/** Images that are held for later ones and could be sent, newest day first. */
export function* heldRows(
  ctx: ShotsContext, view: View, standing: RouteStatus,
): Generator<Observation, void, undefined> {
  const now = currentFacts(ctx, view)
  if (standing.route === null || now.folderDigest === null) return
  const isOpen = isReady(view, standing)
  const blocked = {
    statuses: ['blocked'] as const, meant: isTakenUp(view, standing, now.folderDigest),
  }
  for (const row of newestDayFirst(ctx, view, blocked)) {
    if (isHeld(row) && rowClassificationNow(row, now) === null && isOpen(row)) yield row
  }
}

/**
 * Images that are held for later ones become pending, newest day first; answers which. Those from
 * before the consent stay.
 */
export const restoreHeld = async (
  ctx: ShotsContext, standing: RouteStatus, limit: number,
): Promise<readonly string[]> => {
  const ids: string[] = []
  for (const { observation_id: id } of heldRows(ctx, ctx.gov.store.read(), standing)) {
    if (ids.length >= limit) break
    ids.push(id)
  }
  if (ids.length === 0) return ids
  // What forbids every contact refuses the pass: no image is touched for it.
  await ctx.gateway.client()
  return transactCounted(ctx.gov, 'shots analyze', (tx) => {
    const at = nowIso(ctx.gov)
    return ids.filter((id) => setStatus(tx, at, id, 'pending', null))
  })
}

/** Blocked rows whose reason is gone become pending; answers how many. */
export const restoreBlocked = async (
  ctx: ShotsContext, standing: RouteStatus, limit: number,
): Promise<number> => {
  const view = ctx.gov.store.read()
  const found = findBlocked(ctx, view, standing, currentFacts(ctx, view), limit)
  await returnUncertain(ctx, found.uncertain)
  if (found.restore.length + found.stays.size === 0) return 0
  return transactCounted(ctx.gov, 'shots analyze', (tx) => {
    const now = nowIso(ctx.gov)
    for (const [id, reason] of found.stays) setStatus(tx, now, id, 'blocked', reason)
    return found.restore.filter((id) => setStatus(tx, now, id, 'pending', null)).length
  })
}

/** Whether rows of a group are not written as they are meant now. */
const isChanged = (key: CountKey, now: CurrentFacts): boolean =>
  statusNow(key, now) !== key.analysis_status
  || classificationNow(key, now) !== key.classification

const meaning = (row: Observation, now: CurrentFacts) => ({
  analysis_status: rowStatusNow(row, now), classification: rowClassificationNow(row, now),
})

const differs = (row: Observation, now: CurrentFacts): boolean => {
  const { analysis_status, classification } = meaning(row, now)
  return analysis_status !== row.analysis_status || classification !== row.classification
}

/** Persists needs_reanalysis and stale_root (S-156 to S-158, S-162); answers how many of each. */
export const persistMeaning = async (
  ctx: ShotsContext,
): Promise<{ readonly needs: number, readonly stale: number }> => {
  const view = ctx.gov.store.read()
  const done = { needs: 0, stale: 0 }
  const current = currentFacts(ctx, view)
  const ids: string[] = []
  for (const row of findObservations(view, { meant: (key) => isChanged(key, current) })) {
    ids.push(row.observation_id)
    if (ids.length >= rowsPerTick) break
  }
  if (ids.length === 0) return done
  return transactCounted(ctx.gov, 'shots analyze', (tx) => {
    const now = nowIso(ctx.gov)
    const facts = currentFacts(ctx, tx)
    for (const id of ids) {
      const row = tx.get(c.observations, id)
      if (row === undefined || row.archived_at !== null || !differs(row, facts)) continue
      const next = { ...row, ...meaning(row, facts) }
      putObservation(tx, now, next)
      const isNewlyOld = next.analysis_status === 'needs_reanalysis'
        && next.analysis_status !== row.analysis_status
      if (isNewlyOld) done.needs += 1
      else if (next.classification === 'stale_root') done.stale += 1
    }
    return done
  })
}

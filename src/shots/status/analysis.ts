/** The numbers about observations, from counters and folder rows; no whole list is ever read. */
import type { View } from '../../state/types.js'
import { SallyportError } from '../../base/errors.js'
import { blockedReasons, mostBlockedNext, quickLooksMs } from '../analysis/blocked.js'
import { notRecorded, ReasonCounts } from '../analysis/reason-counts.js'
import { analysisStatuses } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { classificationNow, statusNow, type CurrentFacts } from '../observations/as-of-now.js'
import { digestCollections, digestHeadId } from '../digest/digest-rows.js'
import { readLockCounters } from '../lock-counters.js'
import { takeObservations } from '../observations/find.js'
import {
  shotCollections as c, type ShotCount, type ShotFolder,
} from '../observations/observation-rows.js'
import type { BlockedReasons } from '../receipts/analysis.js'
import { imageFolders } from '../source/folder-machine.js'
import { lastScanOf } from '../scan/last-scan.js'
import type { AnalysisStatusPart, ScannedFolder } from './shape.js'

const foldersShownMax = 20

const sum = (counts: readonly ShotCount[]): number =>
  counts.reduce((total, { count }) => total + count, 0)

const isStale = (count: ShotCount, now: CurrentFacts): boolean =>
  !count.archived && classificationNow(count, now) === 'stale_root'

const lockOf = (dir: string): AnalysisStatusPart['db_lock'] => {
  const { retries, failures } = readLockCounters(dir)
  return { retry_count: retries, failure_count: failures }
}

/** The part where the rows cannot be read: short, and it says why (S-122). */
export const unknownAnalysis = (dir: string, failure: string): AnalysisStatusPart => ({
  counted_root: null, observation_count: null, total_historical_observation_count: null,
  status_mix: null, blocked_reasons: null, blocked_looked_at: null, blocked_next: null,
  failed_reasons: null, reused_count: null, active_backlog: null, active_failures: null,
  source_missing_count: null, device_observation_count: null,
  stale_cleanup: { stale_root_count: null, archived_count: null },
  visual_run_count: null, visual_suppression_count: null, db_lock: lockOf(dir),
  latest_observation_at: null, latest_analyzed_at: null, digest_count: null,
  latest_digest_at: null, metadata_status: 'partial', metadata_failure: failure,
})

const reasonsOf = (ctx: ShotsContext, view: View): BlockedReasons | null => {
  try {
    return blockedReasons(ctx, view, { msMax: quickLooksMs, folderAlone: true })
  } catch (error) {
    // The numbers stand without the reasons.
    if (error instanceof SallyportError) return null
    throw error
  }
}

const failedReasons = (failed: readonly ShotCount[]): BlockedReasons => {
  const reasons = new ReasonCounts()
  for (const { reason, count } of failed) reasons.add(reason ?? notRecorded, count)
  return reasons.list()
}

/** Numbers of the current folder; `historical` and `stale_cleanup` count all folders. */
export const analysisPart = (
  ctx: ShotsContext, view: View, now: CurrentFacts, folder: string | null,
): AnalysisStatusPart => {
  const all = view.all(c.counts).map(({ doc }) => doc)
  const here = all.filter((one) => one.root_digest === now.folderDigest && !one.archived)
  const active = here.filter((one) => classificationNow(one, now) === null)
  const mix = Object.fromEntries(analysisStatuses.map((status) =>
    [status, sum(here.filter((one) => statusNow(one, now) === status))],
  )) as NonNullable<AnalysisStatusPart['status_mix']>
  const reasons = mix.blocked === 0 ? [] : reasonsOf(ctx, view)
  const facts = now.folderDigest === null ? undefined : view.get(c.folders, now.folderDigest)
  const digests = view.get(digestCollections.head, digestHeadId)
  return {
    counted_root: folder,
    observation_count: sum(here),
    total_historical_observation_count: sum(all),
    status_mix: mix,
    blocked_reasons: reasons,
    blocked_looked_at: reasons?.reduce((total, { count }) => total + count, 0) ?? null,
    blocked_next: mostBlockedNext(ctx, view, reasons ?? []),
    failed_reasons: failedReasons(here.filter((one) => statusNow(one, now) === 'failed')),
    reused_count: sum(here.filter((one) =>
      one.reused === true && statusNow(one, now) === 'succeeded')),
    active_backlog: sum(active.filter((one) => one.analysis_status === 'pending')),
    active_failures: sum(active.filter((one) => one.analysis_status === 'failed')),
    source_missing_count:
      sum(here.filter((one) => classificationNow(one, now) === 'source_missing')),
    device_observation_count: sum(all.filter((one) => one.edge === true)),
    stale_cleanup: {
      stale_root_count: sum(all.filter((one) => isStale(one, now))),
      archived_count: sum(all.filter((one) => one.archived)),
    },
    visual_run_count: facts?.visual_runs ?? 0,
    visual_suppression_count: facts?.suppressed ?? 0,
    db_lock: lockOf(ctx.gov.store.dir),
    latest_observation_at: facts?.latest_captured_at ?? null,
    latest_analyzed_at: facts?.latest_analyzed_at ?? null,
    digest_count: digests?.count ?? 0,
    latest_digest_at: digests?.latest_at ?? null,
    metadata_status: 'ok',
    metadata_failure: null,
  }
}

/** The newest capture of a folder up to a time; one of a clock that was ahead tells nothing. */
const newestUpTo = (
  view: View, { root_digest: folderDigest, latest_captured_at: latest }: ShotFolder, now: string,
): string | null => {
  if (latest === null || latest <= now) return latest
  const [row] = takeObservations(view, {
    folderDigest, newestFirst: true, archived: true, until: now,
  }, 1)
  return row?.captured_at ?? null
}

/**
 * When anything last came in under a folder: the newest capture, or the newest like image, of those
 * that do not lie ahead of `now`, ISO 8601.
 */
export const newestItemAt = (
  view: View, folder: ShotFolder | undefined, now: string,
): string | null => {
  if (folder === undefined) return null
  const id = folder.representative?.observation_id
  const run = id === undefined ? undefined : view.get(c.observations, id)?.screenshot_visual_run
  const seen = [newestUpTo(view, folder, now), run?.last_seen ?? null]
    .filter((one) => one !== null && one <= now)
  return seen.sort().at(-1) ?? null
}

/** Folders that were ever scanned: the one in force, then those with the newest images. */
export const scannedFolders = (
  { gov: { store } }: ShotsContext, view: View, now: CurrentFacts,
): ScannedFolder[] => {
  const counts = view.all(c.counts).map(({ doc }) => doc)
  const isCurrent = (folder: ShotFolder): boolean => folder.root_digest === now.folderDigest
  const latest = (folder: ShotFolder): string => folder.latest_captured_at ?? ''
  return imageFolders(view)
    .sort((a, b) => Number(isCurrent(b)) - Number(isCurrent(a)) || (latest(a) < latest(b) ? 1 : -1))
    .slice(0, foldersShownMax)
    .map((folder) => ({
      root: folder.root,
      current: isCurrent(folder),
      observation_count: folder.observations - folder.archived,
      archived_count: folder.archived,
      stale_root_count: sum(counts.filter((one) =>
        one.root_digest === folder.root_digest && isStale(one, now))),
      latest_observation_at: folder.latest_captured_at,
      last_scan_at: lastScanOf(store.runDir, folder.root_digest, folder)?.at ?? null,
    }))
}

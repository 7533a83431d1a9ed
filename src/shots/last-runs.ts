/**
 * When the jobs of this source last ran, by their own receipts and looks: no scheduler is asked.
 * Whatever tells of a last run, a verb, a route or the page, reads it here.
 */
import type { Store, View } from '../state/types.js'
import { cutKind } from './cut-short.js'
import { shotCollections } from './observations/observation-rows.js'
import { receiptOf } from './receipts/append.js'
import { receiptCollections, receiptHeadId, type ShotReceipt } from './receipts/receipt-rows.js'
import { lastScanOf } from './scan/last-scan.js'

/** Newest run of each job, ISO 8601; null where none is known. */
interface LastRuns {
  readonly scan: string | null
  readonly analyze: string | null
  readonly digest: string | null
}

/** Receipts are looked at, newest first, at most so many. */
const looksMax = 20

type Job = ShotReceipt['job']

/** ISO 8601 of one length in UTC: their order is that of time. */
const newest = (times: readonly (string | null | undefined)[]): string | null =>
  times.filter((one) => typeof one === 'string').sort().at(-1) ?? null

/** The newest receipt of a job, where it is among the newest of all. */
const newestReceipt = (view: View, job: Job): ShotReceipt | undefined => {
  const { number: last = 0 } = view.get(receiptCollections.head, receiptHeadId) ?? {}
  for (let number = last; number > Math.max(0, last - looksMax); number -= 1) {
    const found = receiptOf(view, number)
    if (found?.job === job) return found
  }
  return undefined
}

/** When it was written: the head names that, but for what earlier programs wrote. */
const receiptAt = (view: View, job: Job): string | undefined =>
  view.get(receiptCollections.head, receiptHeadId)?.last?.[job] ?? newestReceipt(view, job)?.at

const lastOf = (view: View, job: Job): string | null =>
  newest([receiptAt(view, job), view.get(receiptCollections.idle, job)?.last])

/** Digest of the folder that was looked at last, and when; null where none ever was. */
const lastLook = ({ runDir }: Pick<Store, 'runDir'>, view: View) =>
  view.all(shotCollections.folders).flatMap(({ id, doc }) => {
    const scan = lastScanOf(runDir, id, doc)
    return scan === null ? [] : [{ folder: id, at: scan.at }]
  }).sort((a, b) => (a.at < b.at ? 1 : -1))[0] ?? null

/** The newest runs, by the rows of one view. */
export const lastRuns = (store: Pick<Store, 'runDir'>, view: View): LastRuns => ({
  scan: lastLook(store, view)?.at ?? null,
  analyze: lastOf(view, 'screenshot_folder_analysis'),
  digest: lastOf(view, 'screenshot_observation_digest'),
})

/** A job whose last run failed. */
interface LastFailure {
  readonly job: 'scan' | 'digest'
  /** A code; null where none was kept. */
  readonly reason: string | null
}

const digestFailure = (view: View): readonly LastFailure[] => {
  const job = 'screenshot_observation_digest'
  const hasRun = view.get(receiptCollections.head, receiptHeadId)?.last?.[job] !== undefined
  const receipt = hasRun ? newestReceipt(view, job) : undefined
  if (receipt?.job !== job || receipt.facts.failed === 0) return []
  // A run since then had nothing to do, and nothing had gone wrong in it.
  const quiet = view.get(receiptCollections.idle, job)?.last
  if (quiet !== undefined && quiet > receipt.at) return []
  const { reason, windows } = receipt.facts
  const isOwn = (why: string | null): boolean => why === null || cutKind(why) === null
  const failed = windows.filter(({ outcome }) => outcome === 'failed')
  const own = failed.filter((one) => isOwn(one.reason))
  // A stop, or a wait in vain, is no failure of the job: what is left has its turn by itself.
  if (failed.length > 0 && own.length === 0) return []
  return [{
    job: 'digest', reason: (isOwn(reason) ? reason : null) ?? own[0]?.reason ?? null,
  }]
}

/**
 * Jobs whose newest run failed: a scan that could not read its folder, a digest of which a window
 * failed, as long as its receipt is among the newest. No row keeps the failure of a whole analysis.
 * `folder`: digest of the folder that is asked about, null for none; left out: that of the scan
 * which `lastRuns` tells.
 */
export const lastFailures = (
  store: Pick<Store, 'runDir'>, view: View,
  folder: string | null = lastLook(store, view)?.folder ?? null,
): readonly LastFailure[] => {
  const scan = folder === null ? null
    : lastScanOf(store.runDir, folder, view.get(shotCollections.folders, folder))
  return [
    ...(scan?.status === 'failed' ? [{ job: 'scan' as const, reason: scan.reason }] : []),
    ...digestFailure(view),
  ]
}

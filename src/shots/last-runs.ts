/**
 * When the jobs of this source last ran, by their own receipts and looks: no scheduler is asked.
 * Whatever tells of a last run, a verb, a route or the page, reads it here.
 */
import type { Store, View } from '../state/types.js'
import { shotCollections } from './observations/rows.js'
import { receiptOf } from './receipts/append.js'
import { receiptCollections, receiptHeadId, type ShotReceipt } from './receipts/rows.js'
import { lastScanOf } from './scan/last-scan.js'

/** Newest run of each job, ISO 8601; null where none is known. */
interface LastRuns {
  readonly scan: string | null
  readonly analyze: string | null
  readonly digest: string | null
}

/** Receipts of earlier programs are looked at, newest first, at most so many. */
const looksMax = 20

type Job = ShotReceipt['job']

/** ISO 8601 of one length in UTC: their order is that of time. */
const newest = (times: readonly (string | null | undefined)[]): string | null =>
  times.filter((one) => typeof one === 'string').sort().at(-1) ?? null

/** The newest receipt of a job: the head names it, but for what earlier programs wrote. */
const receiptAt = (view: View, job: Job): string | undefined => {
  const head = view.get(receiptCollections.head, receiptHeadId)
  const named = head?.last?.[job]
  if (named !== undefined || head === undefined) return named
  const numbers = Array.from({ length: Math.min(head.number, looksMax) }, (_, n) => head.number - n)
  return numbers.map((number) => receiptOf(view, number)).find((one) => one?.job === job)?.at
}

const lastOf = (view: View, job: Job): string | null =>
  newest([receiptAt(view, job), view.get(receiptCollections.idle, job)?.last])

/** The newest runs, by the rows of one view. */
export const lastRuns = ({ runDir }: Pick<Store, 'runDir'>, view: View): LastRuns => ({
  scan: newest(view.all(shotCollections.folders).map(({ id, doc }) =>
    lastScanOf(runDir, id, doc)?.at)),
  analyze: lastOf(view, 'screenshot_folder_analysis'),
  digest: lastOf(view, 'screenshot_observation_digest'),
})

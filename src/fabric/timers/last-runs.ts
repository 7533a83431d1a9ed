/**
 * When the jobs last ran, by their own receipts and, for looks that found nothing new, by the small
 * file that `shots status` reads: no scheduler is asked.
 */
import type { Gov } from '../../governance/context.js'
import { receiptOf } from '../../shots/receipts/append.js'
import { receiptCollections, receiptHeadId, type ShotReceipt } from '../../shots/receipts/rows.js'
import { readLastTick } from '../../shots/scan/last-tick.js'
import { shotCollections } from '../../shots/observations/rows.js'
import type { View } from '../../state/types.js'

/** Newest run of each job, ISO 8601; null where none is known. */
export interface LastRuns {
  readonly scan: string | null
  readonly analyze: string | null
  readonly digest: string | null
}

/** Receipts that are looked at, newest first; older ones are not asked. */
const looksMax = 20

const jobNames = {
  scan: 'screenshot_folder_ingest',
  analyze: 'screenshot_folder_analysis',
  digest: 'screenshot_observation_digest',
} as const satisfies Record<keyof LastRuns, ShotReceipt['job']>

/** ISO 8601 of one length in UTC: their order is that of time. */
const newest = (times: readonly (string | null | undefined)[]): string | null =>
  times.filter((one) => typeof one === 'string').sort().at(-1) ?? null

/** The newest runs, by the rows of one view. */
export const lastRuns = ({ store }: Pick<Gov, 'store'>, view: View): LastRuns => {
  const head = view.get(receiptCollections.head, receiptHeadId)?.number ?? 0
  const numbers = Array.from({ length: Math.min(head, looksMax) }, (_, back) => head - back)
  const receipts = numbers.flatMap((number) => receiptOf(view, number) ?? [])
  const scans = view.all(shotCollections.folders).flatMap(({ id, doc }) =>
    [doc.last_scan?.at, readLastTick(store.runDir, id)?.at])
  const of = (name: keyof LastRuns): string | null => newest([
    receipts.find(({ job }) => job === jobNames[name])?.at,
    view.get(receiptCollections.idle, jobNames[name])?.last,
    ...(name === 'scan' ? scans : []),
  ])
  return { scan: of('scan'), analyze: of('analyze'), digest: of('digest') }
}

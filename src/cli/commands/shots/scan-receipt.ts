/** The receipt of a scan as JSON and as text; `scan`, `watch` and `run` print the same one. */
import * as v from 'valibot'
import { fail, type SallyportError } from '../../../base/errors.js'
import type { ScanReceipt } from '../../../shots/scan/types.js'
import type { View } from '../../output.js'

const count = v.number()
const name = v.strictObject({ text: v.string(), bytes_base64: v.nullable(v.string()) })

/** JSON of a scan's receipt. */
export const scanReceiptShape = v.strictObject({
  receipt_id: v.nullable(v.string()),
  number: v.nullable(count),
  recorded: v.boolean(),
  job: v.literal('screenshot_folder_ingest'),
  at: v.string(),
  root: v.string(),
  source: v.picklist(['input', 'environment', 'settings', 'default']),
  status: v.picklist(['ok', 'degraded']),
  reason: v.nullable(v.string()),
  limit: count,
  scanned: count,
  ingested: count,
  duplicate: count,
  suppressed: count,
  rejected: count,
  deferred: count,
  known: count,
  reasons: v.record(v.string(), count),
  problems: v.pipe(v.array(v.strictObject({ name, reason: v.string() })), v.readonly()),
  problems_left_out: count,
  duration_ms: count,
})

/** One line of counts. */
export const scanCountsLine = (receipt: ScanReceipt): string =>
  `${receipt.scanned} looked at: ${receipt.ingested} ingested, ${receipt.duplicate} duplicate `
  + `(${receipt.known} known), ${receipt.suppressed} suppressed, ${receipt.rejected} rejected, `
  + `${receipt.deferred} deferred`

const reasonLines = ({ reasons }: ScanReceipt): string[] =>
  Object.entries(reasons).sort().map(([reason, files]) => `  ${reason}: ${files}`)

const problemLines = ({ problems, problems_left_out: more }: ScanReceipt, view: View): string[] => [
  ...problems.map((one) => `  ${view.foreign(one.name.text)}: ${one.reason}`),
  ...(more > 0 ? [`  and ${more} more`] : []),
]

/** The receipt as text. */
export const scanReceiptText = (receipt: ScanReceipt, view: View): string => {
  const problems = problemLines(receipt, view)
  const reasons = reasonLines(receipt)
  return [
    `${view.foreign(receipt.root)}`,
    scanCountsLine(receipt),
    ...(reasons.length > 0 ? ['by reason:', ...reasons] : []),
    ...(problems.length > 0 ? ['files to look at:', ...problems] : []),
    receipt.recorded ? `receipt ${receipt.receipt_id ?? ''}` : 'nothing new was written',
    '',
  ].join('\n')
}

/** The failure that goes with a degraded receipt: the rest waits for a later pass (S-171). */
export const degradedFailure = (receipt: ScanReceipt): SallyportError => {
  const details = { reason: receipt.reason, deferred: receipt.deferred }
  if (receipt.reason === 'cancelled') {
    return fail.cancelled('scan_cancelled', 'The scan was stopped; what it wrote stays.', {
      details,
    })
  }
  return fail.locked(
    'scan_degraded', 'A part of the folder was not written down; a later scan takes it in.',
    {
      reason: receipt.reason ?? 'unknown', details,
      next: receipt.reason === 'lock_held'
        ? 'Run it again, or wait longer with --wait SECONDS.'
        : 'Look at the disk of the state directory, then run it again.',
    },
  )
}

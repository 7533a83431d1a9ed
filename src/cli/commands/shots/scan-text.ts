/** The receipt of a scan as text; `scan` and `watch` print the same one. */
import type { ScanReceipt } from '../../../shots/receipts/scan.js'
import type { View } from '../../output.js'

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

const smallLines = ({ small_changes: small }: ScanReceipt): string[] => {
  if (small === undefined) return []
  const where = small.area === null ? ''
    : `; ${small.area_images} of this folder in ${small.area}, to be left out with`
  return [
    `changed in one small area only: ${small.images}${where}`,
    ...small.next.map(({ command }) => `  ${command}`),
  ]
}

/** The receipt as text. */
export const scanReceiptText = (receipt: ScanReceipt, view: View): string => {
  const problems = problemLines(receipt, view)
  const reasons = reasonLines(receipt)
  return [
    `${view.foreign(receipt.root)}`,
    scanCountsLine(receipt),
    ...(reasons.length > 0 ? ['by reason:', ...reasons] : []),
    ...smallLines(receipt),
    ...(problems.length > 0 ? ['files to look at:', ...problems] : []),
    receipt.recorded ? `receipt ${receipt.receipt_id ?? ''}` : 'nothing new was written',
    '',
  ].join('\n')
}

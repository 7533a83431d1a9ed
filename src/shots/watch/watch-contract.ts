/** What a watcher tells, one document a line. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import type { SallyportError } from '../../base/errors.js'
import { errorBody, errorShape } from '../../base/outcome.js'
import { scanReceiptShape, type ScanReceipt } from '../receipts/scan.js'

const lineShape = v.strictObject({
  event: v.picklist(['watching', 'tick', 'trouble', 'stopped']),
  /** The folder; null at `trouble` and `stopped`. */
  root: v.nullable(v.string()),
  receipt: v.nullable(scanReceiptShape),
  error: v.nullable(errorShape),
})
/** One line of a watcher. */
type WatchDocument = v.InferOutput<typeof lineShape>

/** What happened to a watcher. */
export type WatchEvent =
  | { readonly event: 'watching'; readonly folder: string }
  | { readonly event: 'tick'; readonly receipt: ScanReceipt }
  | { readonly event: 'trouble'; readonly error: SallyportError }
  | { readonly event: 'stopped' }

const lineOf = (told: WatchEvent): WatchDocument => {
  const line = { event: told.event, root: null, receipt: null, error: null }
  if (told.event === 'watching') return { ...line, root: told.folder }
  if (told.event === 'tick') return { ...line, root: told.receipt.root, receipt: told.receipt }
  if (told.event === 'stopped') return line
  const { details, ...body } = errorBody(told.error).error
  return { ...line, error: { ...body, details: { ...details } } }
}

/** Following the image folder until it is told to stop. */
export const shotsWatch = contract({
  name: 'shots.watch', output: lineShape, lines: true,
  toDocument: lineOf,
})

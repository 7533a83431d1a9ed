/** What a scan tells: printed by verbs, stored in its receipt; docs/dev/screenshots.md lists it. */
import * as v from 'valibot'
import { nextStepShape } from '../../base/error-shape.js'
import { count, nullableText, text } from '../../base/schema.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { fileNameShape } from '../observations/observation-rows.js'

const problemShape = v.strictObject({ name: fileNameShape, reason: text })
/** Images that differ from the one before them in one small rectangle only. */
export const smallChangesToldShape = v.strictObject({
  images: count,
  /** Where most of the folder's do, as `shots setup --ignore` takes it; null: nowhere yet. */
  area: nullableText,
  /** How many of the folder's that are. */
  area_images: count,
  /** What keeps such images from being new ones. */
  next: v.array(nextStepShape),
})
export type SmallChangesTold = v.InferOutput<typeof smallChangesToldShape>

/** Facts of one scan; every file of the folder is in exactly one of the five counts (S-131). */
export const scanFactsShape = v.strictObject({
  /** Canonical path of the folder that was looked at. */
  root: text,
  /** Which source named it; `input` is a folder given to this scan. */
  source: v.picklist(['input', 'environment', 'settings', 'default']),
  status: v.picklist(['ok', 'degraded']),
  /** Why it is degraded. */
  reason: nullableText,
  /** Files that could be read for the first time. */
  limit: count,
  scanned: count,
  ingested: count,
  duplicate: count,
  suppressed: count,
  rejected: count,
  deferred: count,
  /** Of the duplicates: files that were known and not read again. */
  known: count,
  /** How many files each reason is about. */
  reasons: v.record(text, count),
  /** The first files of `reasons`, named. */
  problems: v.array(problemShape),
  problems_left_out: count,
  /** Of the ingested; left out where there are none, and in receipts of an earlier version. */
  small_changes: v.optional(smallChangesToldShape),
  duration_ms: count,
})
/** Facts of one scan, as its receipt keeps them. */
export type ScanFacts = v.InferOutput<typeof scanFactsShape>

/** Receipt of one scan (S-177). */
export const scanReceiptShape = v.strictObject({
  /** Null where nothing durable was written: see `recorded`. */
  receipt_id: nullableText,
  number: v.nullable(count),
  /** False for a tick that found nothing new, and where the receipt could not be written. */
  recorded: v.boolean(),
  job: v.literal('screenshot_folder_ingest'),
  at: text,
  ...scanFactsShape.entries,
})
export type ScanReceipt = v.InferOutput<typeof scanReceiptShape>

/** The failure of a degraded scan (S-171), whose rest waits; null for a good one. */
export const scanFailure = (receipt: ScanReceipt): SallyportError | null => {
  const { status, reason, deferred } = receipt
  if (status === 'ok') return null
  const details = { reason, deferred }
  if (reason === 'cancelled') {
    return fail.cancelled('scan_cancelled', 'The scan was stopped; what it wrote stays.', {
      details,
    })
  }
  return fail.locked(
    'scan_degraded', 'A part of the folder was not written down; a later scan takes it in.',
    {
      reason: reason ?? 'unknown', details,
      next: reason === 'lock_held'
        ? 'Run it again, or wait longer with --wait SECONDS.'
        : 'Look at the disk of the state directory, then run it again.',
    },
  )
}

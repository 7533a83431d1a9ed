/** Rows of the receipts of the scheduler jobs; the facts of each job are of a closed shape. */
import * as v from 'valibot'
import { count, iso, sha256, text } from '../../base/schema.js'
import type { CollectionSpec } from '../../state/types.js'
import { storedAnalysisShape } from './analysis.js'
import { storedDigestShape } from './digest.js'
import { scanFactsShape } from './scan.js'

const idleShape = v.strictObject({ since: iso, ticks: count, last: iso })
/** Ticks of a job that had nothing to do: since when, how many, and the newest. */
export type IdleTicks = v.InferOutput<typeof idleShape>

const gapShape = v.strictObject({
  /** Numbers of the first and the last receipt that are gone, and how many they are. */
  first: count,
  last: count,
  count,
  /** What the first of them named as the receipt before it; null where it was the very first. */
  digest_before: v.nullable(sha256),
  /** Digest of the last of them, which the receipt behind it names. */
  digest_after: sha256,
})
/** Tombstone of receipts that a person had removed. */
export type ReceiptGap = v.InferOutput<typeof gapShape>

const head = {
  receipt_id: v.pipe(text, v.startsWith('rct_')),
  number: count,
  /** SHA-256 of the canonical receipt before this one; null for the first. */
  previous_sha256: v.nullable(sha256),
  at: iso,
  /** Ticks of this job since its receipt before this one that had nothing to do. */
  idle: v.optional(idleShape),
}

const receiptShape = v.variant('job', [
  v.strictObject({
    ...head, job: v.literal('screenshot_folder_ingest'), facts: scanFactsShape,
  }),
  v.strictObject({
    ...head, job: v.literal('screenshot_folder_analysis'), facts: storedAnalysisShape,
  }),
  v.strictObject({
    ...head, job: v.literal('screenshot_observation_digest'), facts: storedDigestShape,
  }),
])
/** Receipt of one tick of a job. */
export type ShotReceipt = v.InferOutput<typeof receiptShape>

/** The facts that receipts of a job keep. */
export type ReceiptFacts<Job extends ShotReceipt['job']> =
  Extract<ShotReceipt, { readonly job: Job }>['facts']

const receiptHeadShape = v.strictObject({
  number: count,
  sha256: v.nullable(sha256),
  /** When the newest receipt of each job was written; left out by earlier programs. */
  last: v.optional(v.strictObject({
    screenshot_folder_ingest: v.optional(iso),
    screenshot_folder_analysis: v.optional(iso),
    screenshot_observation_digest: v.optional(iso),
  })),
})

/** The collections of receipts. */
export const receiptCollections = {
  /** By receipt number, padded to 12 digits. */
  receipts: { name: 'shot_receipts', schema: receiptShape, partition: 'hash256' },
  /** Only `the`: number and digest of the newest, and when each job wrote its own newest. */
  head: { name: 'shot_receipt_head', schema: receiptHeadShape, partition: 'one' },
  /** By job. */
  idle: { name: 'shot_idle_ticks', schema: idleShape, partition: 'one' },
  /** By the first number, padded as receipts are. */
  gaps: { name: 'shot_receipts_pruned', schema: gapShape, partition: 'one' },
} satisfies {
  receipts: CollectionSpec<ShotReceipt>
  head: CollectionSpec<v.InferOutput<typeof receiptHeadShape>>
  idle: CollectionSpec<IdleTicks>
  gaps: CollectionSpec<ReceiptGap>
}

/** Id of the only document of `receiptCollections.head`. */
export const receiptHeadId = 'the'

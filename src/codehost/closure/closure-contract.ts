/** What goes in and comes out of the operations on closures. */
import * as v from 'valibot'
import { canonicalJson } from '../../base/canonical.js'
import { contract } from '../../base/contract.js'
import { behindRow } from '../../base/page.js'
import { closedObject, strictInteger, nullableText, text } from '../../base/schema.js'
import type { ClosedCapacity } from './close.js'
import type { Inspection } from './look.js'
import { closureReceiptShape } from '../jobs/closed/receipt-shape.js'
import type { Closure } from '../jobs/closed/closed-job-rows.js'

const positive = strictInteger(1, Number.MAX_SAFE_INTEGER)

const closedShape = v.strictObject({ receipt: closureReceiptShape })
/** The receipt of what was closed, now or before: the same bytes each time. */
export type ClosedDocument = v.InferOutput<typeof closedShape>

/** Closing capacity: the receipt, as it lies in the store. */
export const codehostCloseCapacity = contract({
  name: 'codehost.close-capacity',
  input: closedObject({
    job: text,
    acknowledged_capacity_close: v.optional(v.boolean()),
    expected_job_revision: v.optional(positive),
    expected_connection_revision: v.optional(positive),
    expected_connection_fence: v.optional(positive),
    idempotency_key: v.optional(text),
    remote_id: v.optional(positive),
    remote_commit_id: v.optional(text),
    pr_number: v.optional(positive),
  }),
  output: closedShape,
  toDocument: ({ closure: { receipt } }: ClosedCapacity): ClosedDocument => ({ receipt }),
})

const closureLine = v.strictObject({
  closure: text,
  closed_at: text,
  job: text,
  kind: text,
  /** As it was and stays. */
  job_state: text,
  task_state: nullableText,
  connection: text,
  repository: text,
  observed_effects: v.number(),
  capacity_closed: v.literal(true),
  no_learning: v.literal(true),
  history_unchanged: v.literal(true),
})
export type ClosureLine = v.InferOutput<typeof closureLine>

const lineOf = ({ receipt, ...row }: Closure): ClosureLine => ({
  closure: row.closure_id, closed_at: row.closed_at, job: row.job_id, kind: receipt.job.kind,
  job_state: receipt.job.state, task_state: receipt.task?.state ?? null,
  connection: row.connection_id, repository: receipt.connection.repository,
  observed_effects: receipt.effects.observed, capacity_closed: true, no_learning: true,
  history_unchanged: true,
})

const shownClosure = v.strictObject({
  ...closureLine.entries,
  receipt: closureReceiptShape,
  /** The receipt as canonical JSON, where that was asked for. */
  canonical: nullableText,
})
type ShownClosureDocument = v.InferOutput<typeof shownClosure>

/** What was found: a list, or the one that was named. */
type FoundClosures =
  | readonly Closure[] | { readonly closure: Closure; readonly receipt: boolean }

const isList = (found: FoundClosures): found is readonly Closure[] => Array.isArray(found)

/** Closures: a list, newest first, or the one that is named. */
export const codehostClosures = contract({
  name: 'codehost.closures',
  input: closedObject({
    closure: v.optional(text), receipt: v.optional(v.boolean()), after: behindRow('cls'),
    limit: v.optional(strictInteger(1, 1_000)),
  }),
  output: v.union([v.array(closureLine), shownClosure]),
  toDocument: (found: FoundClosures): ClosureLine[] | ShownClosureDocument => {
    if (isList(found)) return found.map(lineOf)
    const { closure, receipt } = found
    return {
      ...lineOf(closure), receipt: closure.receipt,
      canonical: receipt ? canonicalJson(closure.receipt) : null,
    }
  },
})

const inspection = {
  job: text,
  verdict: v.picklist(['applied', 'stale', 'inconclusive']),
  /** Why it can never apply; null otherwise. */
  reason: nullableText,
  idempotency_key: text,
  request_sha256: text,
  /** Of a request that was applied: the very receipt. */
  receipt: v.nullable(closureReceiptShape),
} as const
const inspectionShape = v.strictObject(inspection)
/** What became of a request. */
export type InspectionDocument = v.InferOutput<typeof inspectionShape>

const inspectionDocument = ({ jobId, read, verdict }: Inspection): InspectionDocument => ({
  job: jobId, verdict: verdict.verdict,
  reason: verdict.verdict === 'stale' ? verdict.reason : null,
  idempotency_key: read.request.idempotency_key, request_sha256: read.sha256,
  receipt: verdict.verdict === 'applied' ? verdict.closure.receipt : null,
})

/** Inspecting a kept request; no path of its own is told by the specification (C-143). */
export const codehostInspect = contract({
  name: 'codehost.inspect',
  input: closedObject({ job: text, idempotency_key: v.optional(text) }),
  output: inspectionShape, toDocument: inspectionDocument,
})

const discardedShape = v.strictObject({ ...inspection, discarded: v.literal(true) })
type DiscardDocument = v.InferOutput<typeof discardedShape>

/** Dropping a kept request that is decided. */
export const codehostDiscard = contract({
  name: 'codehost.discard',
  input: closedObject({ job: text, idempotency_key: v.optional(text) }),
  output: discardedShape,
  toDocument: (found: Inspection): DiscardDocument =>
    ({ ...inspectionDocument(found), discarded: true }),
})

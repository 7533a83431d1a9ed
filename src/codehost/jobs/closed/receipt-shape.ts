/** Shape of the receipt of a closure. Its names are settled here and nowhere else (C-125). */
import * as v from 'valibot'
import { count, counted, iso, nullableText, sha256, text } from '../../../base/schema.js'
import { nativeKinds } from '../kinds.js'

const yes = v.literal(true)

/** What an unsealed receipt says. */
const closureReceiptEntries = {
  schema: v.literal('svc.codehost.closure-receipt.v1'),
  /** The recovery contract that the closure was made under (C-289). */
  recovery_contract: v.literal('V3'),
  closure_id: text,
  closed_at: iso,
  principal: text,
  root: text,
  job: v.strictObject({
    id: text, kind: v.picklist(nativeKinds), capability: text,
    /** As it was and stays: the closure resolved nothing of it. */
    state: text, reason: nullableText, attempt: count, revision_before: counted, revision: counted,
  }),
  /** Null where it never had one. */
  task: v.nullable(v.strictObject({ id: text, state: text, blocked: nullableText })),
  connection: v.strictObject({
    id: text, repository: text, repository_id: counted, revision: counted, mode: text,
    fence: counted,
  }),
  request: v.strictObject({ sha256, idempotency_key: text }),
  /** Of a publication whose local work alone was begun nothing was contacted. */
  effects: v.strictObject({ planned: counted, contacted: count, observed: count }),
  evidence: v.strictObject({
    /** The sealed account of the closure, and the sealed journals of its readbacks, in order. */
    artifact_sha256: sha256, journals: v.array(sha256),
    /** Readbacks of this closure, and those that an earlier operation had sealed. */
    fresh: count, earlier: count, gets: count, raw_bytes: count,
  }),
  producer: v.strictObject({
    applicable: v.boolean(), standing: text,
    /** SHA-256 of the durable marker that proves the end of the local work. */
    marker_sha256: v.optional(sha256),
  }),
  all_potentially_contacted_effects_observed: yes,
  capacity_closed: yes,
  job_and_task_unresolved: yes,
  execution_fenced_for_good: yes,
  no_learning: yes,
  approval_history_unchanged: yes,
  goal_history_unchanged: yes,
  finance_history_unchanged: yes,
  statement: text,
} as const

/** A receipt. */
export const closureReceiptShape = v.strictObject({
  ...closureReceiptEntries,
  /** Keyed digest of all of the above as canonical JSON; only this store makes it. */
  seal: sha256,
})
export type ClosureReceipt = v.InferOutput<typeof closureReceiptShape>

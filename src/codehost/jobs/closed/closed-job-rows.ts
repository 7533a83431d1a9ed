/** Rows of closures: one a job, never changed (C-052 to C-058). */
import * as v from 'valibot'
import { count, counted, iso, sha256, text } from '../../../base/schema.js'
import { byTail } from '../../../governance/by-tail.js'
import type { CollectionSpec, Index } from '../../../state/types.js'
import { closureReceiptShape } from './receipt-shape.js'

/** Sealed content that is named by its digests. */
const sealedShape = v.strictObject({
  artifact_id: text, sha256, stored_sha256: sha256, bytes: count,
})

const closureShape = v.strictObject({
  closure_id: text,
  job_id: text,
  owner: text,
  root: text,
  connection_id: text,
  idempotency_key: text,
  /** Canonical text of the request, and its digest. */
  request: text,
  request_sha256: sha256,
  closed_at: iso,
  /** Fence under which the job had last occupied its connection. */
  fence: counted,
  artifact: sealedShape,
  receipt: closureReceiptShape,
})
export type Closure = v.InferOutput<typeof closureShape>

export const closuresByJob: Index<Closure> = {
  name: 'job', parts: 1, keysOf: ({ job_id: job }) => [[job]],
}
/** Closures by the key of their request; keys are global to a store. */
export const closuresByKey: Index<Closure> = {
  name: 'key', parts: 1, keysOf: ({ idempotency_key: key }) => [[key]],
}
/** Closures of an owner, in the order of their ids, which is that of time. */
export const closuresByOwner: Index<Closure> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
/** Closures by the end of their ids. */
export const closuresByTail = byTail<Closure>(({ closure_id: id }) => id)

export const closureCollection: CollectionSpec<Closure> = {
  name: 'codehost_closures', schema: closureShape, partition: 'hash256',
  indexes: [closuresByJob, closuresByKey, closuresByOwner, closuresByTail],
}

/** Why a job is not offered to be closed. */
export type NotClosable =
  | 'closed' | 'state' | 'kind' | 'plan' | 'restored' | 'root' | 'leased' | 'capacity_free'

/** What is shown of a job besides its row and its way on. */
export interface ClosureView {
  /** Null for one that is not closed. */
  readonly closure: Closure | null
  /** Null for one that may be asked to be closed now. */
  readonly notClosable: NotClosable | null
}

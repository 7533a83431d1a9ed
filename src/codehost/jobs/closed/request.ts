/**
 * The request that closes the capacity of one job: strict, because a wrong word in it would free
 * what must stay occupied. Its canonical bytes are what is kept, compared and bound; spaces and the
 * order of fields do not count, an explicit null does (C-113 to C-121, C-129 to C-131, C-182).
 */
import * as v from 'valibot'
import { canonicalJson, sha256Hex } from '../../../base/canonical.js'
import { closedObject, parseClosed, strictInteger } from '../../../base/schema.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import { followThroughKind, type NativeKind } from '../kinds.js'
import { closureLimits } from './closed-job-limits.js'

const positive = strictInteger(1, Number.MAX_SAFE_INTEGER)
const keyRule = 'must be a UUID in canonical lowercase, 8-4-4-4-12'
const keyForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const idRule = 'must be a Git object id of 40 lowercase hexadecimal digits'

/** Whether a text is a key as requests write it; any version of UUID is one. */
export const isClosureKey = (text: string): boolean => keyForm.test(text)

const common = {
  acknowledged_capacity_close: v.literal(true, 'must be exactly true'),
  expected_job_revision: positive,
  expected_connection_revision: positive,
  expected_connection_fence: positive,
  idempotency_key: v.pipe(v.string(keyRule), v.regex(keyForm, keyRule)),
} as const

/** Of a follow-through job: where its one effect is, if the reply with its number was lost. */
export const followCloseShape = closedObject({ ...common, remote_id: v.optional(positive) })

/** Of a publication: hints at what its lost replies would have told. */
export const publicationCloseShape = closedObject({
  ...common,
  remote_commit_id: v.optional(v.pipe(v.string(idRule), v.regex(/^[0-9a-f]{40}$/, idRule))),
  pr_number: v.optional(positive),
})

/** A request of either kind. */
export type CloseRequest =
  v.InferOutput<typeof followCloseShape> & v.InferOutput<typeof publicationCloseShape>

/** A request with its canonical text and the digest of that. */
export interface ReadRequest {
  readonly request: CloseRequest
  readonly canonical: string
  readonly sha256: string
}

/** A value that has the shape of a kind. Throws `rejected` `request_invalid`. */
export const closeRequestOf = (value: unknown, kind: NativeKind): ReadRequest => {
  const shape = kind === followThroughKind ? followCloseShape : publicationCloseShape
  const request = parseClosed(shape, value, {
    code: 'request_invalid', what: 'the close request',
  }) as CloseRequest
  const canonical = canonicalJson(request)
  return { request, canonical, sha256: sha256Hex(canonical) }
}

/** The JSON of a request, strict, before its kind is known. Throws `rejected` (`json_…`). */
export const closeRequestJson = (
  bytes: Uint8Array, bytesMax: number = closureLimits.requestBytesMax,
): unknown => parseStrictJson(bytes, { bytesMax, depthMax: 1 })

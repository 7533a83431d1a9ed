/** What `edge capture` takes and gives. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, counted, iso, nullableText, sha256 } from '../../base/schema.js'
import { isWellFormed } from '../../base/well-formed.js'
import { evictionShape } from './spool/evictions.js'
import { countsShape, requestIdShape } from './spool/item.js'
import type { Added } from './spool/spool.js'

const sourceBytesMax = 256
const purposeRule = 'must be a name of lowercase letters, digits, _ and - that begins with a letter'
const sourceRule = `must be 1 to ${sourceBytesMax} bytes of text without control characters`

const inputShape = closedObject({
  file: v.pipe(v.string(), v.nonEmpty('must not be empty')),
  request_id: v.optional(requestIdShape),
  purpose: v.optional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_-]{0,63}$/, purposeRule))),
  source: v.optional(v.pipe(
    v.string(), v.nonEmpty(sourceRule),
    v.check((text) => Buffer.byteLength(text) <= sourceBytesMax, sourceRule),
    v.check((text) => isWellFormed(text) && !/\p{Cc}/u.test(text), sourceRule),
  )),
  cloud_egress: v.optional(v.boolean()),
  model_egress: v.optional(v.boolean()),
})
/** A picture to be taken into the spool. */
export type CaptureRequest = v.InferOutput<typeof inputShape>

const outputShape = v.strictObject({
  request_id: requestIdShape,
  outcome: v.picklist(['spooled', 'known']),
  captured_at: iso,
  sha256,
  bytes: counted,
  mime: v.string(),
  purpose: v.string(),
  source: nullableText,
  policy: v.strictObject({ cloud_egress: v.boolean(), model_egress: v.boolean() }),
  /** What waits afterwards. */
  spool: countsShape,
  /** What had to leave for it. */
  evicted: v.array(evictionShape),
})
type CaptureDocument = v.InferOutput<typeof outputShape>

const documentOf = ({ facts, outcome, counts, evicted }: Added): CaptureDocument => ({
  request_id: facts.request_id,
  outcome,
  captured_at: facts.captured_at,
  sha256: facts.sha256,
  bytes: facts.bytes,
  mime: facts.mime,
  purpose: facts.purpose,
  source: facts.source,
  policy: { cloud_egress: facts.cloud_egress, model_egress: facts.model_egress },
  spool: { ...counts },
  evicted: evicted.map((one) => ({ ...one })),
})

export const edgeCapture = contract({
  name: 'edge.capture', input: inputShape, output: outputShape,
  toDocument: documentOf,
})

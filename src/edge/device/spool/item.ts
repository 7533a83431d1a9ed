/**
 * One capture as a file: a line of JSON that says what it is, then its bytes as they were read.
 * What is read back counts only when the bytes still have the digest of the line.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import {
  closedObject, parseClosed, count, counted, iso, nullableText, sha256,
} from '../../../base/schema.js'
import { parseStrictJson } from '../../../base/strict-json.js'

const requestIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A request id: a UUID in lowercase. */
export const requestIdShape = v.pipe(
  v.string(), v.regex(requestIdForm, 'must be a UUID in lowercase'))

const shape = closedObject({
  schema: v.literal('sallyport.edge.spooled.v1'),
  request_id: requestIdShape,
  captured_at: iso,
  sha256,
  bytes: counted,
  mime: v.picklist(['image/png', 'image/jpeg']),
  cloud_egress: v.boolean(),
  model_egress: v.boolean(),
  purpose: v.string(),
  source: nullableText,
  file_name: nullableText,
  source_path: nullableText,
})
/** What a capture is, without its bytes. */
export type CaptureFacts = v.InferOutput<typeof shape>

/** A capture with its bytes. */
export interface Capture {
  readonly facts: CaptureFacts
  readonly bytes: Buffer
}

/** Most bytes of the line. */
export const headBytesMax = 65_536

export const encodeCapture = ({ facts, bytes }: Capture): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), bytes])

/** The facts of a file that begins with these bytes, and where its picture begins; else null. */
export const decodeFacts = (start: Buffer): { facts: CaptureFacts; at: number } | null => {
  const at = start.subarray(0, headBytesMax).indexOf(0x0a) + 1
  if (at === 0) return null
  try {
    const value = parseStrictJson(start.subarray(0, at - 1), {
      bytesMax: headBytesMax, depthMax: 2,
    })
    return { facts: parseClosed(shape, value, { code: 'damaged', what: 'a capture' }), at }
  } catch {
    // Whatever is wrong with it, it is not a capture any more.
    return null
  }
}

/** A whole capture; null when one byte of it is not what was spooled. */
export const decodeCapture = (file: Buffer): Capture | null => {
  const head = decodeFacts(file)
  if (head === null) return null
  const bytes = file.subarray(head.at)
  const digest = createHash('sha256').update(bytes).digest('hex')
  const whole = bytes.length === head.facts.bytes && digest === head.facts.sha256
  return whole ? { facts: head.facts, bytes } : null
}

/** Counts of what waits, as documents carry them. */
export const countsShape = v.strictObject({ items: count, bytes: count, aside: count })

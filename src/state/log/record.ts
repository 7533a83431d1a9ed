/** The JSON inside a log record: which documents it puts or removes, and whether it is a mark. */
import * as v from 'valibot'
import { canonicalJson } from '../../base/canonical.js'
import { canonicalText } from './canonical-text.js'

/** `1`: the collection is one file; `256`: it grows and is split by the hash of the id. */
export type PartitionKind = 1 | 256

/** That of an index names whose rows it finds, a colon, and itself. */
const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}(?::[a-z][a-z0-9_]{0,31})?$/))
const kind = v.picklist([1, 256])
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

const payloadShape = v.strictObject({
  at: v.string(),
  mark: v.optional(v.strictObject({ number: count, policy_revision: v.nullable(count) })),
  /** Only in the last record of a log that another took over from: the epoch of that one. */
  next_epoch: v.optional(count),
  ops: v.array(
    v.union([
      v.strictTuple([name, kind, v.string(), v.unknown()]),
      v.strictTuple([name, kind, v.string()]),
    ]),
  ),
  verb: v.string(),
})
/** A record's content. An op of three members removes the document, one of four puts it. */
export type RecordPayload = v.InferOutput<typeof payloadShape>

/** Longest id of a document, in UTF-16 units. */
const idLengthMax = 512

/** Whether a text may name a collection. */
export const isCollectionName = (text: string): boolean => v.is(name, text)

/** Whether a text may be a document's id. */
export const isDocumentId = (text: string): boolean =>
  text.length > 0 && text.length <= idLengthMax && !/\p{Cs}/u.test(text)

/** Reads a payload; undefined when it is not what a record may hold. */
export const decodePayload = (text: string): RecordPayload | undefined => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return v.is(payloadShape, value) ? value : undefined
}

/** One change: canonical JSON of the document, or null to remove it. */
export interface Change {
  readonly collection: string
  readonly kind: PartitionKind
  readonly id: string
  readonly text: string | null
}

/** A record's text, and where each change's document stands in it (UTF-16 units). */
export interface EncodedPayload {
  readonly text: string
  /** Start and end per change, in the order of the changes; 0, 0 for a removal. */
  readonly spans: readonly number[]
}

/** Canonical JSON of a record, put together from documents that are canonical already. */
export const encodePayload = (
  at: string,
  verb: string,
  changes: readonly Change[],
  mark: { readonly number: number; readonly policy_revision: number | null } | undefined,
): EncodedPayload => {
  const marked = mark === undefined ? '' : `"mark":${canonicalJson(mark)},`
  let text = `{"at":"${at}",${marked}"ops":[`
  const spans: number[] = []
  let comma = ''
  for (const { collection, kind: k, id, text: document } of changes) {
    text += `${comma}["${collection}",${k},${canonicalText(id)}`
    comma = ','
    if (document === null) spans.push(0, 0)
    else {
      text += ','
      spans.push(text.length, text.length + document.length)
      text += document
    }
    text += ']'
  }
  return { text: `${text}],"verb":${JSON.stringify(verb)}}`, spans }
}

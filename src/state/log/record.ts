/** The JSON inside a log record: which documents it puts or removes, and whether it is a mark. */
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { shapeCheck } from '../../base/compiled-shape.js'
import { isWellFormed } from '../../base/well-formed.js'
import { stringJson } from './canonical-text.js'

/** `1`: the collection is one file; `256`: it grows and is split by the hash of the id. */
export type PartitionKind = 1 | 256

/** That of an index names whose rows it finds, a colon, and itself. */
const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}(?::[a-z][a-z0-9_]{0,31})?$/))
const kind = v.picklist([1, 256])

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

const isName = shapeCheck(name)
const isPayload = shapeCheck(payloadShape)

export const isCollectionName = (text: string): boolean => isName(text)

/** Whether a text may be a document's id. */
export const isDocumentId = (text: string): boolean =>
  text.length > 0 && text.length <= idLengthMax && isWellFormed(text)

/** Reads a payload; undefined when it is not what a record may hold. */
export const decodePayload = (text: string): RecordPayload | undefined => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return isPayload(value) ? value : undefined
}

/** A document as it is written. */
export interface Content {
  /** What `canonicalCopy` gives; not looked at where there is a text. */
  readonly doc: unknown
  /** Canonical JSON that was made already. */
  readonly text: string | undefined
}

/** One change: what a document becomes, or null to remove it. */
export interface Change {
  readonly collection: string
  readonly kind: PartitionKind
  readonly id: string
  readonly content: Content | null
}

interface PayloadMark {
  readonly number: number
  readonly policy_revision: number | null
}

/** The text of a change where the text of some document is there already. */
const opText = ({ collection, kind: k, id, content }: Change): string => {
  const start = `["${collection}",${k},${stringJson(id)}`
  return content === null ? `${start}]` : `${start},${content.text ?? JSON.stringify(content.doc)}]`
}

/** Canonical JSON of a record; made in one go, unless some of its text is there already. */
export const encodePayload = (
  at: string, verb: string, changes: readonly Change[], mark: PayloadMark | undefined,
): string => {
  const marked = mark === undefined ? undefined
    : { number: mark.number, policy_revision: mark.policy_revision }
  if (changes.every(({ content }) => content?.text === undefined)) {
    const ops = changes.map(({ collection, kind: k, id, content }) =>
      content === null ? [collection, k, id] : [collection, k, id, content.doc])
    return JSON.stringify({ at, mark: marked, ops, verb })
  }
  const before = marked === undefined ? '' : `"mark":${JSON.stringify(marked)},`
  const ops = changes.map(opText).join(',')
  return `{"at":${JSON.stringify(at)},${before}"ops":[${ops}],"verb":${JSON.stringify(verb)}}`
}

/** A change in the bytes of a record: where the text of its document stands. */
interface OpPlace {
  readonly collection: string
  readonly id: string
  readonly start: number
  /** As `start` for a removal. */
  readonly end: number
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const opsBegin = '"ops":['

/** Behind the string that begins at `at`. */
const stringEnd = (bytes: Buffer, at: number): number => {
  let end = at + 1
  while (end < bytes.length && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1
  return end + 1
}

/** Where the list ends whose member begins at `at`: at its closing bracket. */
const memberEnd = (bytes: Buffer, at: number): number => {
  let [end, depth] = [at, 0]
  while (end < bytes.length) {
    const byte = bytes[end]
    if (byte === closeList && depth === 0) break
    if (byte === openList || byte === openObject) depth += 1
    else if (byte === closeList || byte === closeObject) depth -= 1
    end = byte === quote ? stringEnd(bytes, end) : end + 1
  }
  return end
}

/** Where the documents of a payload stand in its bytes, which `encodePayload` made. */
export function* opsIn(bytes: Buffer, payloadStart: number): Generator<OpPlace> {
  let at = bytes.indexOf(opsBegin, payloadStart, 'latin1') + opsBegin.length
  while (bytes[at] === openList || bytes[at] === comma) {
    const nameStart = bytes.indexOf(quote, at)
    const nameEnd = stringEnd(bytes, nameStart)
    const idStart = bytes.indexOf(quote, nameEnd)
    const idEnd = stringEnd(bytes, idStart)
    const end = memberEnd(bytes, idEnd)
    yield {
      collection: bytes.toString('latin1', nameStart + 1, nameEnd - 1),
      id: JSON.parse(bytes.toString('utf8', idStart, idEnd)) as string,
      start: Math.min(idEnd + 1, end),
      end,
    }
    at = end + 1
  }
}

/**
 * Bodies of POSTs as parts: text that is known, and files whose bytes are put in when the body is
 * sent. Length and bytes are the same whenever a body is written.
 */
import { base64BytesOf, base64Encoder, jsonStringEncoder } from '../git/encode.js'

/** A part of a body; `file` is its place among the plan's changes, from 0. */
type BodyPart =
  | { readonly text: string }
  | { readonly file: number, readonly as: 'json' | 'base64' }

/** A file as far as a body needs it. */
interface BodyFile {
  readonly path: string
  readonly mode: '100644' | '100755'
  readonly id: string
  readonly bytes: number
  readonly jsonBytes: number
}

/** A body and the bytes that it will have. */
export interface Body {
  readonly parts: readonly BodyPart[]
  readonly bytes: number
}

const textBytes = (parts: readonly BodyPart[]): number =>
  parts.reduce((sum, part) => sum + ('text' in part ? Buffer.byteLength(part.text) : 0), 0)

export const jsonBody = (value: unknown): Body => {
  const parts = [{ text: JSON.stringify(value) }]
  return { parts, bytes: textBytes(parts) }
}

export const blobBody = (file: number, { bytes }: Pick<BodyFile, 'bytes'>): Body => {
  const parts: BodyPart[] = [
    { text: '{"content":"' }, { file, as: 'base64' }, { text: '","encoding":"base64"}' },
  ]
  return { parts, bytes: textBytes(parts) + base64BytesOf(bytes) }
}

const begin = '{"tree":['
const between = ','
const end = ']}'

const entryStart = ({ path, mode }: BodyFile): string =>
  `{"path":${JSON.stringify(path)},"mode":"${mode}","type":"blob","content":"`
const entryEnd = '"}'

/** Bytes of one inline entry with the comma before it. */
export const inlineEntryBytes = (file: BodyFile): number =>
  Buffer.byteLength(entryStart(file)) + file.jsonBytes + entryEnd.length + between.length

/** Bytes of a tree's body besides its entries with their commas. */
export const inlineFrameBytes = begin.length + end.length

/** The body of a tree whose files stand in it; the first entry has no comma. */
export const inlineTreeBody = (files: readonly (readonly [number, BodyFile])[]): Body => {
  const parts = files.flatMap(([file, facts], at): BodyPart[] => [
    { text: `${at === 0 ? begin : between}${entryStart(facts)}` },
    { file, as: 'json' },
    { text: `${entryEnd}${at === files.length - 1 ? end : ''}` },
  ])
  const content = files.reduce((sum, [, { jsonBytes }]) => sum + jsonBytes, 0)
  return { parts, bytes: textBytes(parts) + content }
}

/** One entry of a tree by the id of its blob, as a POST has it. */
export const idEntry = ({ path, mode, id }: Pick<BodyFile, 'path' | 'mode' | 'id'>): unknown =>
  ({ path, mode, type: 'blob', sha: id })

/** Bytes of a file, in pieces. */
type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** Writes a body in pieces; `piecesOf` opens a file by its place among the changes. */
export const bodyPieces = async function* (
  { parts }: Pick<Body, 'parts'>, piecesOf: (file: number) => Pieces,
): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if ('text' in part) {
      yield Buffer.from(part.text, 'utf8')
      continue
    }
    const encoder = part.as === 'json' ? jsonStringEncoder() : base64Encoder()
    for await (const piece of piecesOf(part.file)) {
      const encoded = encoder.push(piece)
      if (encoded.length > 0) yield encoded
    }
    const rest = encoder.end()
    if (rest.length > 0) yield rest
  }
}

/**
 * How file bytes stand in a request body, written piece by piece: as the inside of a JSON string,
 * exactly as `JSON.stringify` would write it, or as base64.
 */

/** Turns the bytes of one file, given in pieces, into bytes of a body. */
export interface PieceEncoder {
  push(piece: Uint8Array): Buffer
  /** What is still owed at the file's end. */
  end(): Buffer
}

/** Escapes of the bytes that JSON cannot hold as they are; undefined where it can. */
const escapes: readonly (Buffer | undefined)[] = Array.from({ length: 256 }, (_, byte) => {
  const text = byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).slice(1, -1) : ''
  return text.length > 1 ? Buffer.from(text) : undefined
})

const lengths = Uint8Array.from(escapes, (escape) => escape?.length ?? 1)

/** Bytes that a piece of UTF-8 takes within a JSON string. */
export const jsonBytesOf = (piece: Uint8Array): number => {
  let bytes = 0
  for (const byte of piece) bytes += lengths[byte] ?? 1
  return bytes
}

const jsonPiece = (piece: Uint8Array): Buffer => {
  const out = Buffer.allocUnsafe(jsonBytesOf(piece))
  let at = 0
  for (const byte of piece) {
    const escape = escapes[byte]
    if (escape === undefined) out[at++] = byte
    else at += escape.copy(out, at)
  }
  return out
}

/** The inside of a JSON string; the file must be UTF-8 (see `fileScan`). */
export const jsonStringEncoder = (): PieceEncoder =>
  ({ push: jsonPiece, end: () => Buffer.alloc(0) })

/** Standard base64 with padding, without line ends. */
export const base64Encoder = (): PieceEncoder => {
  let rest = Buffer.alloc(0)
  return {
    push: (piece) => {
      const all = Buffer.concat([rest, piece])
      const whole = all.length - (all.length % 3)
      rest = all.subarray(whole)
      return Buffer.from(all.toString('base64', 0, whole), 'latin1')
    },
    end: () => Buffer.from(rest.toString('base64'), 'latin1'),
  }
}

/** Bytes of the base64 of so many bytes. */
export const base64BytesOf = (bytes: number): number => 4 * Math.ceil(bytes / 3)

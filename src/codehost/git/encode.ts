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

/** How long each byte is in a JSON text: what JSON cannot hold as it is stands there escaped. */
const lengths = Uint8Array.from({ length: 256 }, (_, byte) =>
  (byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).length - 2 : 1))

/** Bytes that a piece of UTF-8 takes within a JSON string. */
export const jsonBytesOf = (piece: Uint8Array): number => {
  let bytes = 0
  // By index: an iterator over every byte of a folder takes ten times as long.
  for (let at = 0; at < piece.length; at += 1) bytes += lengths[piece[at] ?? 0] ?? 1
  return bytes
}

/**
 * One character a byte, so that a piece may end within a character: what JSON escapes are ASCII
 * characters alone, and everything above them passes as it is.
 */
const jsonPiece = (piece: Uint8Array): Buffer => {
  const { buffer, byteOffset, byteLength } = piece
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
  return Buffer.from(JSON.stringify(text).slice(1, -1), 'latin1')
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

export const base64BytesOf = (bytes: number): number => 4 * Math.ceil(bytes / 3)

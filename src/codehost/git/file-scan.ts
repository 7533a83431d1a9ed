/** What a plan must know of a file, gathered from its bytes piece by piece; nothing is held. */
import { objectHash, type ObjectId } from './object-id.js'
import { jsonBytesOf } from './encode.js'

/** A file as a plan needs it. */
export interface ScannedBytes {
  /** Id of its blob. */
  readonly id: ObjectId
  readonly bytes: number
  /** Whether it is UTF-8 without a NUL, and so fits into a JSON text unchanged. */
  readonly text: boolean
  /** Bytes between the quotes of a JSON string that holds it; 0 where it is no text. */
  readonly jsonBytes: number
}

/** A scan in the making. */
interface FileScan {
  /** The next bytes. */
  update(piece: Uint8Array): void
  /** Throws a defect where more or fewer bytes came than were announced. */
  end(): ScannedBytes
}

export const fileScan = (bytes: number): FileScan => {
  const hash = objectHash('blob', bytes)
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = true
  let jsonBytes = 0
  const check = (piece: Uint8Array | undefined): void => {
    if (!text) return
    try {
      utf8.decode(piece, { stream: piece !== undefined })
      text = piece === undefined || !piece.includes(0)
    } catch {
      text = false
    }
  }
  return {
    update: (piece) => {
      hash.update(piece)
      check(piece)
      if (text) jsonBytes += jsonBytesOf(piece)
    },
    end: () => {
      const id = hash.id()
      check(undefined)
      return { id, bytes, text, jsonBytes: text ? jsonBytes : 0 }
    },
  }
}

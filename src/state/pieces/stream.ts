/**
 * One content in sealed pieces of 256 KiB, written and read piece by piece: `SPT1`, an id, pieces.
 * Every piece but the last is full; the last says that it is, and how long the whole is.
 */
import { createHash } from 'node:crypto'
import { fail } from '../../base/errors.js'
import { damagedArtifact, type Draft } from '../artifact-folder.js'
import type { ArtifactRef, StreamReader, StreamWriter } from '../types.js'
import {
  headBytes, pieceExtraBytes, plainPiece, type PieceCipher, type PieceRole,
} from './cipher.js'
import type { PieceSource } from './source.js'

/** Plaintext of each piece but the last, in bytes. */
export const streamPieceBytes = 256 * 1024

const lastPiece = (number: number, bytes: number): PieceRole =>
  ({ role: 'last', number, facts: String(bytes) })

/** Number of pieces of a content; an empty one has one. */
const piecesOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / streamPieceBytes))

const differs = (): Error =>
  fail.rejected('content_differs', 'The content is not of the length and digest that were told.', {
    next: 'Send it again, with the digest of what is sent.',
  })

/** Pieces of streams that are over: memory that is new each time costs more than what fills it. */
const pieces: Buffer[] = []
const piecesKept = 8

/** Writes one content; see `Artifacts.writeStream`. */
export class PieceStreamWriter implements StreamWriter {
  readonly #draft: Draft
  readonly #cipher: PieceCipher
  readonly #bytesMax: number
  readonly #digest = createHash('sha256')
  readonly #piece = pieces.pop() ?? Buffer.allocUnsafe(streamPieceBytes)
  #isOver = false
  #filled = 0
  #sealed = 0
  bytes = 0

  constructor(draft: Draft, cipher: PieceCipher, bytesMax: number) {
    this.#draft = draft
    this.#cipher = cipher
    this.#bytesMax = bytesMax
    draft.append(cipher.head)
  }

  write(chunk: Uint8Array): void {
    this.#draft.requireOpen()
    if (this.bytes + chunk.length > this.#bytesMax) {
      this.abandon()
      throw fail.rejected('content_too_long', 'The content is longer than it may be.', {
        details: { bytes_max: this.#bytesMax },
      })
    }
    this.bytes += chunk.length
    this.#digest.update(chunk)
    for (let at = 0; at < chunk.length;) {
      // A full piece waits until something follows it: only then is it not the last.
      if (this.#filled === streamPieceBytes) this.#seal(plainPiece(this.#sealed))
      const part = chunk.subarray(at, at + streamPieceBytes - this.#filled)
      this.#piece.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
    }
  }

  #seal(role: PieceRole): void {
    const sealed = this.#cipher.sealApart(role, this.#piece.subarray(0, this.#filled))
    for (const part of sealed) this.#draft.append(part)
    this.#sealed += 1
    this.#filled = 0
  }

  finish(expected?: { readonly sha256: string; readonly bytes: number }): ArtifactRef {
    this.#draft.requireOpen()
    const sha256 = this.#digest.digest('hex')
    const { bytes } = this
    if (expected !== undefined && (expected.sha256 !== sha256 || expected.bytes !== bytes)) {
      this.abandon()
      throw differs()
    }
    this.#seal(lastPiece(this.#sealed, bytes))
    this.#letGo()
    return { stored_sha256: this.#draft.publish(), sha256, bytes }
  }

  abandon(): void {
    this.#letGo()
    this.#draft.abandon()
  }

  /** Leaves no plaintext in its piece, which the next stream may have. */
  #letGo(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#piece.fill(0)
    if (pieces.length < piecesKept) pieces.push(this.#piece)
  }
}

/** Reads one content; see `Artifacts.openStream`. */
export class PieceStreamReader implements StreamReader {
  readonly #source: PieceSource
  readonly #cipher: PieceCipher
  readonly #ref: ArtifactRef
  opened = 0

  constructor(source: PieceSource, cipher: PieceCipher, ref: ArtifactRef) {
    const size = headBytes + ref.bytes + piecesOf(ref.bytes) * pieceExtraBytes
    if (source.size !== size) throw damagedArtifact()
    this.#source = source
    this.#cipher = cipher
    this.#ref = ref
  }

  get bytes(): number {
    return this.#ref.bytes
  }

  #piece(number: number): Buffer {
    const { bytes } = this.#ref
    const isLast = number === piecesOf(bytes) - 1
    const length = isLast ? bytes - number * streamPieceBytes : streamPieceBytes
    const at = headBytes + number * (streamPieceBytes + pieceExtraBytes)
    const sealed = this.#source.read(at, length + pieceExtraBytes)
    const role = isLast ? lastPiece(number, bytes) : plainPiece(number)
    const plaintext = this.#cipher.open(role, sealed)
    if (plaintext === undefined) throw damagedArtifact()
    this.opened += 1
    return plaintext
  }

  * pieces(): Generator<Buffer> {
    const digest = createHash('sha256')
    for (let number = 0; number < piecesOf(this.bytes); number += 1) {
      const piece = this.#piece(number)
      digest.update(piece)
      yield piece
    }
    if (digest.digest('hex') !== this.#ref.sha256) throw damagedArtifact()
  }

  * range(from: number, length: number): Generator<Buffer> {
    const to = Math.min(this.bytes, from + length)
    if (from < 0 || to <= from) return
    const last = Math.floor((to - 1) / streamPieceBytes)
    for (let number = Math.floor(from / streamPieceBytes); number <= last; number += 1) {
      const start = number * streamPieceBytes
      yield this.#piece(number).subarray(Math.max(0, from - start), to - start)
    }
  }

  close(): void {
    this.#source.close()
  }
}

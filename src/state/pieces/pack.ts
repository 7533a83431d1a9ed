/**
 * Many bodies in one sealed file: `SPP1`, an id, pieces of at most 4 MiB, a sealed index, the
 * number of pieces and the length of the sealed index in eight bytes each. A body lies in one piece
 * unless it is longer than a piece may be. The index has the tag of every piece and the digest of
 * every body; whoever refers to a pack names the digest of its index, and with it all of that.
 */
import { createHash, hash } from 'node:crypto'
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { canonicalJson } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { damagedArtifact, type Draft } from '../artifact-folder.js'
import type { ArtifactRef, PackBody, PackReader, PackWriter } from '../types.js'
import {
  headBytes, pieceExtraBytes, plainPiece, tagOf, type PieceCipher, type PieceRole,
} from './cipher.js'
import type { PieceSource } from './source.js'

/** Most plaintext of a piece, in bytes. */
export const packPieceBytesMax = 4 * 1024 * 1024
/** A piece that holds so much takes no further body. */
const packPieceBytes = 1024 * 1024
const indexBytesMax = 16 * 1024 * 1024
const trailerBytes = 16

const hex = (bytes: number) => v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`)))

const indexShape = v.strictObject({
  schema: v.literal('sallyport.pack.v1'),
  /** Bytes of plaintext, and the tag. */
  pieces: v.array(v.strictTuple([count, hex(16)])),
  /** Name, bytes, SHA-256, the piece in which it begins, and where in it. */
  bodies: v.array(v.strictTuple([v.string(), count, hex(32), count, count])),
})
type Index = v.InferOutput<typeof indexShape>
type IndexBody = Index['bodies'][number]

const indexPiece = (pieces: number, at: number): PieceRole =>
  ({ role: 'index', number: 0, facts: `${pieces}|${at}` })

const tooLarge = (): Error =>
  fail.rejected('pack_too_large', 'A pack has more bodies than its index may name.', {
    details: { bytes_max: indexBytesMax },
  })

/** Writes one pack; see `Artifacts.writePack`. */
export class PiecePackWriter implements PackWriter {
  readonly #draft: Draft
  readonly #cipher: PieceCipher
  readonly #names = new Set<string>()
  readonly #pieces: Index['pieces'] = []
  readonly #bodies: IndexBody[] = []
  readonly #piece = Buffer.allocUnsafe(packPieceBytesMax)
  #filled = 0
  bytes = 0

  constructor(draft: Draft, cipher: PieceCipher) {
    this.#draft = draft
    this.#cipher = cipher
    draft.append(cipher.head)
  }

  add(name: string, body: Uint8Array | Iterable<Uint8Array>): PackBody {
    this.#draft.requireOpen()
    if (this.#names.has(name)) throw new TypeError('a pack has two bodies of one name')
    this.#names.add(name)
    const digest = createHash('sha256')
    let [piece, offset, bytes] = [this.#pieces.length, this.#filled, 0]
    for (const chunk of body instanceof Uint8Array ? [body] : body) {
      digest.update(chunk)
      bytes += chunk.length
      // A body that does not fit behind the others begins a piece of its own.
      if (offset > 0 && this.#filled + chunk.length > packPieceBytesMax) {
        this.#seal(offset)
        ;[piece, offset] = [this.#pieces.length, 0]
      }
      this.#fill(chunk)
    }
    const sha256 = digest.digest('hex')
    this.#bodies.push([name, bytes, sha256, piece, offset])
    this.bytes += bytes
    if (this.#filled >= packPieceBytes) this.#seal(this.#filled)
    return { name, bytes, sha256 }
  }

  #fill(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#filled === packPieceBytesMax) this.#seal(packPieceBytesMax)
      const part = chunk.subarray(at, at + packPieceBytesMax - this.#filled)
      this.#piece.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
    }
  }

  /** Seals the first bytes of what is collected; the others are moved to the front. */
  #seal(bytes: number): void {
    const role = plainPiece(this.#pieces.length)
    const sealed = this.#cipher.seal(role, this.#piece.subarray(0, bytes))
    this.#draft.append(sealed)
    this.#pieces.push([bytes, tagOf(sealed)])
    this.#piece.copyWithin(0, bytes, this.#filled)
    this.#filled -= bytes
  }

  finish(): ArtifactRef {
    if (this.#filled > 0) this.#seal(this.#filled)
    this.#piece.fill(0)
    const index: Index = { schema: 'sallyport.pack.v1', pieces: this.#pieces, bodies: this.#bodies }
    const text = Buffer.from(canonicalJson(index))
    if (text.length > indexBytesMax) {
      this.abandon()
      throw tooLarge()
    }
    const sealed = this.#cipher.seal(indexPiece(this.#pieces.length, this.#draft.bytes), text)
    const trailer = Buffer.alloc(trailerBytes)
    trailer.writeBigUInt64BE(BigInt(this.#pieces.length))
    trailer.writeBigUInt64BE(BigInt(sealed.length), 8)
    this.#draft.append(Buffer.concat([sealed, trailer]))
    const sha256 = hash('sha256', text)
    return { stored_sha256: this.#draft.publish(), sha256, bytes: this.bytes }
  }

  abandon(): void {
    this.#piece.fill(0)
    this.#draft.abandon()
  }
}

/** Opens the index at the end of a file; it is bound to where it stands and to how many pieces. */
const readIndex = (source: PieceSource, cipher: PieceCipher, ref: ArtifactRef): Index => {
  const trailer = source.read(source.size - trailerBytes, trailerBytes)
  const pieces = Number(trailer.readBigUInt64BE())
  const length = Number(trailer.readBigUInt64BE(8))
  const at = source.size - trailerBytes - length
  if (length > indexBytesMax + pieceExtraBytes || at < headBytes) throw damagedArtifact()
  const text = cipher.open(indexPiece(pieces, at), source.read(at, length))
  if (text === undefined || hash('sha256', text) !== ref.sha256) throw damagedArtifact()
  const index: unknown = JSON.parse(text.toString('utf8'))
  if (!v.is(indexShape, index) || index.pieces.length !== pieces) throw damagedArtifact()
  const bytes = index.bodies.reduce((sum, [, length]) => sum + length, 0)
  if (bytes !== ref.bytes) throw damagedArtifact()
  return index
}

/** Reads one pack; see `Artifacts.openPack`. */
export class PiecePackReader implements PackReader {
  readonly #source: PieceSource
  readonly #cipher: PieceCipher
  readonly #pieces: Index['pieces']
  readonly #bodies: ReadonlyMap<string, IndexBody>
  /** Where each piece begins in the file. */
  readonly #starts: readonly number[]
  /** The piece that was opened last. */
  #last: { readonly number: number; readonly plaintext: Buffer } | undefined
  opened = 0

  constructor(source: PieceSource, cipher: PieceCipher, ref: ArtifactRef) {
    const { pieces, bodies } = readIndex(source, cipher, ref)
    this.#source = source
    this.#cipher = cipher
    this.#pieces = pieces
    this.#bodies = new Map(bodies.map((body) => [body[0], body]))
    let at = headBytes
    this.#starts = pieces.map(([bytes]) => {
      const start = at
      at += bytes + pieceExtraBytes
      return start
    })
  }

  get bodies(): readonly PackBody[] {
    return [...this.#bodies.values()].map(([name, bytes, sha256]) => ({ name, bytes, sha256 }))
  }

  #piece(number: number): Buffer {
    if (this.#last?.number === number) return this.#last.plaintext
    const [bytes, tag] = this.#pieces[number] ?? [0, '']
    const sealed = this.#source.read(this.#starts[number] ?? 0, bytes + pieceExtraBytes)
    // The index says which piece this is, by its tag: not even one of this pack may stand for it.
    const isOwn = sealed.length === bytes + pieceExtraBytes && tagOf(sealed) === tag
    const plaintext = isOwn ? this.#cipher.open(plainPiece(number), sealed) : undefined
    if (plaintext === undefined) throw damagedArtifact()
    this.opened += 1
    this.#last?.plaintext.fill(0)
    this.#last = { number, plaintext }
    return plaintext
  }

  * chunks(name: string): Generator<Buffer> {
    const body = this.#bodies.get(name)
    if (body === undefined) throw missingBody()
    const [, bytes, sha256, first, offset] = body
    const digest = createHash('sha256')
    let left = bytes
    for (let [number, from] = [first, offset]; left > 0; [number, from] = [number + 1, 0]) {
      const part = Buffer.from(this.#piece(number).subarray(from, from + left))
      if (part.length === 0) throw damagedArtifact()
      digest.update(part)
      left -= part.length
      yield part
    }
    if (digest.digest('hex') !== sha256) throw damagedArtifact()
  }

  read(name: string): Buffer {
    const parts = [...this.chunks(name)]
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
  }

  verify(): void {
    for (const { name } of this.bodies) for (const part of this.chunks(name)) part.fill(0)
  }

  close(): void {
    this.#last?.plaintext.fill(0)
    this.#last = undefined
    this.#source.close()
  }
}

const missingBody = (): Error =>
  fail.notFound('pack_body_not_found', 'The pack has no body of this name.')

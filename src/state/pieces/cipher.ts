/**
 * Sealed pieces: AES-256-GCM under a key of their file alone, with the number of the piece as
 * nonce. What a piece is (its file, its role, its number, and what its role says of the whole) is
 * bound by the associated data, so that a piece opens at its own place only.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { KeyRing } from '../keys.js'

const tagBytes = 16
const idBytes = 16
const magicBytes = 4

/** How much longer a sealed piece is than what it holds. */
export const pieceExtraBytes = tagBytes
/** Bytes of a file before its first piece: what it is, and an id of its own. */
export const headBytes = magicBytes + idBytes

/** `SPT1`: a stream; `SPP1`: a pack. */
export type PieceMagic = 'SPT1' | 'SPP1'

/**
 * What a sealed piece is. `facts` are what it says of the whole: a stream's `last` its length in
 * bytes, a pack's `index` the number of pieces and where it stands itself.
 */
export interface PieceRole {
  readonly role: 'piece' | 'last' | 'index'
  readonly number: number
  readonly facts: string
}

export const plainPiece = (number: number): PieceRole => ({ role: 'piece', number, facts: '' })

/** Eight bytes of number; the index has a nonce that no piece has. */
const nonceOf = ({ role, number }: PieceRole): Buffer => {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt8(role === 'index' ? 1 : 0)
  nonce.writeBigUInt64BE(BigInt(number), 4)
  return nonce
}

/** Seals and opens the pieces of one file. */
export class PieceCipher {
  readonly #key: Buffer
  readonly #context: string
  /** What the file begins with. */
  readonly head: Buffer

  private constructor(
    keys: KeyRing, storeId: string, magic: PieceMagic, label: string, id: Buffer,
  ) {
    const hex = id.toString('hex')
    this.#key = keys.subkeyOnce(`artifact-pieces/${label}/${hex}`)
    this.#context = `${magic}|${storeId}|${label}|${hex}`
    this.head = Buffer.concat([Buffer.from(magic, 'latin1'), id])
  }

  /** For a file that begins now: no piece of it may be sealed twice. */
  static fresh(keys: KeyRing, storeId: string, magic: PieceMagic, label: string): PieceCipher {
    return new PieceCipher(keys, storeId, magic, label, randomBytes(idBytes))
  }

  /** For a file that begins with `head`; undefined where it is of another kind. */
  static of(
    keys: KeyRing, storeId: string, magic: PieceMagic, label: string, head: Buffer,
  ): PieceCipher | undefined {
    if (head.length !== headBytes || magicOf(head) !== magic) return undefined
    return new PieceCipher(keys, storeId, magic, label, Buffer.from(head.subarray(magicBytes)))
  }

  #aad({ role, number, facts }: PieceRole): Buffer {
    return Buffer.from(`${this.#context}|${role}|${number}|${facts}`)
  }

  /** Ciphertext and tag. */
  seal(role: PieceRole, plaintext: Uint8Array): Buffer {
    return Buffer.concat(this.sealApart(role, plaintext))
  }

  /** The same, each by itself: for whoever writes them behind each other and copies nothing. */
  sealApart(role: PieceRole, plaintext: Uint8Array): readonly [Buffer, Buffer] {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(role))
    cipher.setAAD(this.#aad(role))
    const ciphertext = cipher.update(plaintext)
    // This way of working leaves nothing for the end.
    cipher.final()
    return [ciphertext, cipher.getAuthTag()]
  }

  /** The plaintext, all of it verified; undefined where a byte or the place is another. */
  open(role: PieceRole, sealed: Buffer): Buffer | undefined {
    if (sealed.length < tagBytes) return undefined
    const cipher = createDecipheriv('aes-256-gcm', this.#key, nonceOf(role), {
      authTagLength: tagBytes,
    })
    cipher.setAAD(this.#aad(role))
    cipher.setAuthTag(sealed.subarray(sealed.length - tagBytes))
    const plaintext = cipher.update(sealed.subarray(0, sealed.length - tagBytes))
    try {
      cipher.final()
      return plaintext
    } catch {
      plaintext.fill(0)
      return undefined
    }
  }
}

/** What a file says that it is. */
export const magicOf = (head: Buffer): string => head.toString('latin1', 0, magicBytes)

/** The tag of a sealed piece, hex. */
export const tagOf = (sealed: Buffer): string =>
  sealed.toString('hex', sealed.length - tagBytes)

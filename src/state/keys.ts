/**
 * The store's key. One file of 32 random bytes (hex) outside the state directory; everything that
 * is sealed or keyed uses a subkey of it, derived by HKDF-SHA-256 with a label per use, so that
 * bytes of one record type never open as another.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { fail } from '../base/errors.js'
import { orIoFailure, readWhole, type Files } from './files.js'
import { fileBytesMax } from './limits.js'

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const magicBytes = 4
/** How much longer sealed bytes are than what they hold. */
export const sealedExtraBytes = magicBytes + nonceBytes + tagBytes

/** Reads the store's key; `blocked`/`key_missing`, `damaged`/`key_damaged`, or the disk's. */
export const readKey = (files: Files, path: string): Buffer => {
  const bytes = orIoFailure('reading the key', () => readWhole(files, path, fileBytesMax.key))
  if (bytes === undefined) {
    throw fail.blocked('key_missing', 'The key file of this state directory is missing.', {
      next: 'Put the key file back into the key folder; `sallyport doctor` tells where that is.',
    })
  }
  const text = bytes.toString('latin1')
  if (!/^[0-9a-f]{64}\n$/.test(text)) {
    throw fail.damaged('key_damaged', 'The key file of this state directory is damaged.', {
      next: 'Put a copy of the key file back into the configuration directory.',
    })
  }
  return Buffer.from(text.slice(0, 2 * keyBytes), 'hex')
}

export const keyText = (key: Buffer): string => `${key.toString('hex')}\n`

export const makeKey = (): { readonly key: Buffer; readonly text: string } => {
  const key = randomBytes(keyBytes)
  return { key, text: keyText(key) }
}

/** Subkeys of one store's key, by label. */
export class KeyRing {
  readonly #subkeys = new Map<string, Buffer>()
  readonly #storeId: string
  readonly #load: () => Buffer
  #key: Buffer | undefined

  /** `load` is called at first use, so that plain reads never need the key file. */
  constructor(storeId: string, load: () => Buffer) {
    this.#storeId = storeId
    this.#load = load
  }

  /** The key itself, for a machine that joins; everything else uses a subkey. */
  get raw(): Buffer {
    this.#key ??= this.#load()
    return this.#key
  }

  /** The 32-byte subkey of a use, for example `digest/fingerprint`. */
  subkey(use: string): Buffer {
    const known = this.#subkeys.get(use)
    if (known !== undefined) return known
    const made = this.subkeyOnce(use)
    this.#subkeys.set(use, made)
    return made
  }

  /** A subkey that is not kept, for labels that occur once. */
  subkeyOnce(use: string): Buffer {
    this.#key ??= this.#load()
    return Buffer.from(hkdfSync('sha256', this.#key, this.#storeId, `sallyport/${use}`, keyBytes))
  }

  /** Keyed digest under the subkey of a use, lowercase hex. */
  hmac(use: string, data: Uint8Array | string): string {
    return createHmac('sha256', this.subkey(use)).update(data).digest('hex')
  }
}

/** Seals bytes with AES-256-GCM: magic, nonce, ciphertext, tag. */
export const sealWith = (
  key: Buffer, magic: string, context: string, plaintext: Uint8Array, nonce?: Buffer,
): Buffer => {
  const iv = nonce ?? randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(`${magic}|${context}`))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([Buffer.from(magic, 'latin1'), iv, body, cipher.getAuthTag()])
}

/** Opens what `sealWith` made; undefined when a byte, the key or the context differs. */
export const openWith = (
  key: Buffer, magic: string, context: string, sealed: Uint8Array,
): Buffer | undefined => {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes.length < sealedExtraBytes) return undefined
  if (bytes.toString('latin1', 0, magicBytes) !== magic) return undefined
  const iv = bytes.subarray(magicBytes, magicBytes + nonceBytes)
  const cipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(`${magic}|${context}`))
  cipher.setAuthTag(bytes.subarray(bytes.length - tagBytes))
  const body = bytes.subarray(magicBytes + nonceBytes, bytes.length - tagBytes)
  try {
    return Buffer.concat([cipher.update(body), cipher.final()])
  } catch {
    return undefined
  }
}

/** Passphrases of owners: scrypt, always outside the lock. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { fail } from '../base/errors.js'
import { scryptOf, type ScryptCost } from '../base/scrypt.js'
import type { Principal } from './rows.js'

/** A passphrase as exact bytes, or as text that is taken as UTF-8. */
export type Passphrase = string | Uint8Array

/** Shortest and longest passphrase, bytes. */
export const passphraseLimits = { bytesMin: 8, bytesMax: 1024 } as const

const cost = { n: 32_768, r: 8, p: 1 } as const
const hashBytes = 32
const saltBytes = 16
/** What a stored row may ask of this machine, so that a forged row cannot exhaust it. */
const costMax = { n: 1 << 20, r: 32, p: 16 } as const

type Stored = NonNullable<Principal['passphrase']>

const bytesOf = (passphrase: Passphrase): Buffer =>
  typeof passphrase === 'string' ? Buffer.from(passphrase, 'utf8') : Buffer.from(passphrase)

const derive = (passphrase: Buffer, salt: Buffer, cost: ScryptCost): Promise<Buffer> =>
  scryptOf(passphrase, salt, cost, hashBytes)

/** Throws `rejected`/`passphrase_length` unless a passphrase has a length within the limits. */
export const requirePassphraseLength = (passphrase: Passphrase): void => {
  const { length } = bytesOf(passphrase)
  if (length >= passphraseLimits.bytesMin && length <= passphraseLimits.bytesMax) return
  throw fail.rejected('passphrase_length', 'A passphrase has 8 to 1024 bytes.', {
    details: { bytes_min: passphraseLimits.bytesMin, bytes_max: passphraseLimits.bytesMax },
  })
}

/** What a principal's row keeps of a passphrase. Throws `rejected`/`passphrase_length`. */
export const hashPassphrase = async (passphrase: Passphrase): Promise<Stored> => {
  requirePassphraseLength(passphrase)
  const bytes = bytesOf(passphrase)
  const salt = randomBytes(saltBytes)
  const hash = await derive(bytes, salt, cost)
  return {
    kdf: 'scrypt',
    ...cost,
    salt: salt.toString('base64url'),
    hash: hash.toString('base64url'),
  }
}

/**
 * Whether a passphrase is the owner's. An owner without one is right exactly when none is given.
 * An unknown owner costs as much time as a known one and is never right.
 */
export const verifyPassphrase = async (
  principal: Principal | undefined,
  passphrase: Passphrase | undefined,
): Promise<boolean> => {
  if (principal !== undefined && principal.passphrase === null) return passphrase === undefined
  const stored = principal?.passphrase ?? null
  const given = bytesOf(passphrase ?? '')
  if (stored === null) {
    await derive(given, Buffer.alloc(saltBytes), cost)
    return false
  }
  if (stored.n > costMax.n || stored.r > costMax.r || stored.p > costMax.p) {
    throw fail.damaged('principal_damaged', 'The stored passphrase of an owner is damaged.', {
      next: 'Run `sallyport state check`.',
    })
  }
  const expected = Buffer.from(stored.hash, 'base64url')
  const actual = await derive(given, Buffer.from(stored.salt, 'base64url'), stored)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

/**
 * An invitation: one file that carries everything by which a machine joins a shared state, the key
 * of the state among it. It is sealed under a passphrase, by scrypt and AES-256-GCM, and goes from
 * machine to machine by hand: the place of the state never has it. Who has file and passphrase can
 * read the whole state, so that both go by different ways and the file is removed afterwards.
 */
import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../../base/canonical.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { count, counted, iso, nullableText, sha256 } from '../../base/schema.js'
import { scryptOf, type ScryptCost } from '../../base/scrypt.js'
import { openWith, sealWith } from '../keys.js'
import { headStartShape } from './head-start-shape.js'
import { runForm } from './known-run.js'

/** Longest file of an invitation, bytes: profile and certificates are at most 64 KiB each. */
export const invitationBytesMax = 512 * 1024

/** Shortest and longest passphrase of one, bytes: whoever has the file may guess at leisure. */
export const invitationPassphrase = { bytesMin: 12, bytesMax: 1_024 } as const

/** 128 MiB and about half a second of one processor. */
const cost: ScryptCost = { n: 1 << 17, r: 8, p: 1 }
/** What a file may ask of this machine, 512 MiB: it comes from elsewhere. */
const costMax: ScryptCost = { n: 1 << 18, r: 16, p: 4 }
const costMin: ScryptCost = { n: 1 << 14, r: 8, p: 1 }
const saltBytes = 16
const keyBytes = 32
const magic = 'SPIV'

const between = (low: number, high: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(low), v.maxValue(high))

const base64url = v.pipe(v.string(), v.regex(/^[\w-]+$/))

/** What can be read without the passphrase: how its key is made, and the sealed rest. */
const outerShape = v.strictObject({
  schema: v.literal('sallyport.invitation.v1'),
  kdf: v.literal('scrypt'),
  n: v.pipe(between(costMin.n, costMax.n), v.check((n) => Number.isInteger(Math.log2(n)))),
  r: between(costMin.r, costMax.r),
  p: between(costMin.p, costMax.p),
  salt: v.pipe(base64url, v.length(Math.ceil(saltBytes * 4 / 3))),
  sealed: base64url,
})
type Outer = v.InferOutput<typeof outerShape>

const uuid = v.pipe(v.string(), v.uuid())

const innerShape = v.strictObject({
  store_id: uuid,
  /** The key of the state, hex. */
  key: sha256,
  format_version: counted,
  /** When the state was made. */
  created_at: iso,
  profile: v.record(v.string(), v.unknown()),
  /** Id of the machine that is invited, so that it joins once; left out by older programs. */
  machine: v.optional(uuid),
  /** Name of the machine that is invited. */
  machine_name: v.string(),
  /** `postgres://USER@HOST:PORT/DATABASE`; never with a password. */
  address: v.string(),
  /** Certificates that the server is verified by, PEM; null on loopback without TLS. */
  ca: nullableText,
  /** Password at the server; null where whoever joins brings another, or none is needed. */
  password: nullableText,
  /**
   * The last record that the inviting machine knew, and the keyed link behind it, hex: a server
   * that shows less, or something else there, was rolled back and is not believed.
   */
  position: v.strictObject({ sequence: count, link: sha256 }),
  /** The run of the server where it was written; left out by older programs. */
  run: v.optional(v.pipe(v.string(), v.regex(runForm))),
  /** Files of a replica to begin with; left out where there are few records. */
  head_start: v.optional(headStartShape),
  invited_at: iso,
})
export type Invitation = v.InferOutput<typeof innerShape>

/** Throws `rejected` `invitation_passphrase_length` unless a passphrase may seal one. */
export const requireInvitationPassphrase = (passphrase: string): void => {
  const { bytesMin, bytesMax } = invitationPassphrase
  const length = Buffer.byteLength(passphrase)
  if (length >= bytesMin && length <= bytesMax) return
  throw fail.rejected(
    'invitation_passphrase_length',
    `The passphrase of an invitation has ${bytesMin} to ${bytesMax} bytes.`,
    { details: { bytes_min: bytesMin, bytes_max: bytesMax } })
}

/** What the seal covers besides the sealed bytes, so that no part of the file can be exchanged. */
const contextOf = ({ schema, kdf, n, r, p, salt }: Omit<Outer, 'sealed'>): string =>
  canonicalJson({ schema, kdf, n, r, p, salt })

const keyOf = (passphrase: string, { n, r, p, salt }: Omit<Outer, 'sealed'>): Promise<Buffer> =>
  scryptOf(Buffer.from(passphrase), Buffer.from(salt, 'base64url'), { n, r, p }, keyBytes)

/** The bytes of the file. Throws `rejected` `invitation_passphrase_length`. */
export const sealInvitation = async (
  invitation: Invitation, passphrase: string,
): Promise<Buffer> => {
  requireInvitationPassphrase(passphrase)
  const outer = {
    schema: 'sallyport.invitation.v1', kdf: 'scrypt', ...cost,
    salt: randomBytes(saltBytes).toString('base64url'),
  } as const
  const plaintext = Buffer.from(canonicalJson(v.parse(innerShape, invitation)))
  const sealed = sealWith(await keyOf(passphrase, outer), magic, contextOf(outer), plaintext)
  const text = canonicalJson({ ...outer, sealed: sealed.toString('base64url') })
  return Buffer.from(`${text}\n`)
}

const noInvitation = (): SallyportError =>
  fail.rejected('invitation_file', 'The file is no invitation that this program can read.', {
    next: 'Have it made anew: `sallyport machine invite NAME --to FILE`.',
  })

const notOpened = (): SallyportError =>
  fail.rejected('invitation_not_opened', 'The invitation does not open under that passphrase.', {
    next: 'Give the passphrase that it was made with; a file that was altered opens under none.',
  })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * What can be read of a file before anybody types a passphrase. Throws `rejected`
 * `invitation_file`.
 */
export const readInvitation = (bytes: Buffer): Outer => {
  const outer = v.safeParse(outerShape, parsed(bytes.toString('utf8')))
  if (bytes.length > invitationBytesMax || !outer.success) throw noInvitation()
  return outer.output
}

/**
 * What the file carries. Throws `rejected`: `invitation_not_opened` for another passphrase or an
 * altered file, `invitation_file` where what was sealed is of another shape.
 */
export const openInvitation = async (outer: Outer, passphrase: string): Promise<Invitation> => {
  const sealed = Buffer.from(outer.sealed, 'base64url')
  const opened = openWith(await keyOf(passphrase, outer), magic, contextOf(outer), sealed)
  if (opened === undefined) throw notOpened()
  const inner = v.safeParse(innerShape, parsed(opened.toString('utf8')))
  if (!inner.success) throw noInvitation()
  return inner.output
}

/**
 * Whom a device is paired with. The file holds the credential, so it has mode 600 in a folder of
 * mode 700 and is looked at again before every request; the credential is in no argument, log or
 * error.
 */
import { lstatSync } from 'node:fs'
import * as v from 'valibot'
import { fail, SallyportError } from '../../base/errors.js'
import { closedObject, parseClosed, iso } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { orIoFailure, publish, readWhole, type Files } from '../../state/files.js'

/** Form of a credential. */
export const credentialForm = /^spe_[A-Za-z0-9_-]{43}$/
/** Form of a device's id. */
export const deviceIdForm = /^edge_dev_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const formerShape = closedObject({
  device_id: v.pipe(v.string(), v.regex(deviceIdForm)),
  credential: v.pipe(v.string(), v.regex(credentialForm)),
  /** Of the service that gave it. */
  pin: v.string(),
})
/** A pairing of before that the service has yet to end. */
export type Former = v.InferOutput<typeof formerShape>

const shape = closedObject({
  schema: v.literal('sallyport.edge.pairing.v1'),
  origin: v.string(),
  pin: v.string(),
  device_id: v.pipe(v.string(), v.regex(deviceIdForm)),
  owner: v.string(),
  device_name: v.string(),
  credential: v.pipe(v.string(), v.regex(credentialForm)),
  paired_at: iso,
  /** When the service said that this credential counts no more; null while it does. */
  ended_at: v.nullable(iso),
  /** Pairings that this one replaced and that are yet to be ended; left out by earlier programs. */
  former: v.optional(v.array(formerShape)),
})
export type Pairing = v.InferOutput<typeof shape>

const bytesMax = 16_384
const othersMask = 0o077

const again = 'Run `sallyport edge pair` on the side of the service, then `sallyport edge daemon '
  + '--pair-file F` here.'

/** The failure of a device that nobody paired. */
const notPaired = (): SallyportError =>
  fail.rejected('edge_not_paired', 'This device is not paired.', { next: again })

/** The failure of a device whose credential the service does not take any more. */
export const pairingEnded = (details: { readonly status?: number } = {}): SallyportError =>
  fail.unauthorized('edge_pairing_ended', 'The service does not take this device any more.', {
    next: `What waits stays here. ${again}`, details,
  })

/**
 * The pairing of a device. Throws `rejected` `edge_not_paired`, `edge_pairing_unsafe` where others
 * may read the file or it is not this user's, and `edge_pairing_invalid`.
 */
export const readPairing = (files: Files, path: string): Pairing =>
  orIoFailure('the pairing', () => {
    const facts = lstatSync(path, { throwIfNoEntry: false })
    if (facts === undefined) throw notPaired()
    const own = facts.isFile() && facts.size <= bytesMax && facts.uid === process.geteuid?.()
    if (!own || (facts.mode & othersMask) !== 0) {
      throw fail.rejected('edge_pairing_unsafe',
        'The pairing is no file of this user alone.', { next: again })
    }
    const bytes = readWhole(files, path, bytesMax)
    if (bytes === undefined) throw notPaired()
    try {
      const value = parseStrictJson(bytes, { bytesMax, depthMax: 3 })
      return parseClosed(shape, value, { code: 'edge_pairing_invalid', what: 'the pairing' })
    } catch {
      throw fail.rejected('edge_pairing_invalid', 'The file of the pairing is damaged.', {
        next: again,
      })
    }
  })

/** The same; null where there is none that can be read: then there is nothing to take over. */
export const findPairing = (files: Files, path: string): Pairing | null => {
  try {
    return readPairing(files, path)
  } catch (error) {
    if (error instanceof SallyportError && error.kind === 'rejected') return null
    throw error
  }
}

/** Keeps a pairing, durable, in the place of the one before. */
export const writePairing = (files: Files, path: string, pairing: Pairing): void =>
  orIoFailure('the pairing', () =>
    publish(files, path, Buffer.from(`${JSON.stringify(pairing)}\n`)))

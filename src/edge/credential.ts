/**
 * The credential of a paired device: `spe_` and 32 random bytes, shown once. A row keeps its keyed
 * digest, by which it is found: nobody without the store's key can aim at a digest, so the time of
 * the look tells nothing. Whether it still opens anything is asked anew with every request, every
 * piece of a body and once more in the record (S-198).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { fail } from '../base/errors.js'
import { requireSound } from '../governance/anchored.js'
import type { Gov } from '../governance/context.js'
import { endOfDevice } from '../governance/devices.js'
import { collections, type Principal } from '../governance/rows.js'
import { pendingStops } from '../governance/stops/pending.js'
import { covers, offRoutes } from '../governance/stops/stop.js'
import { rowsUnder } from '../state/indexes.js'
import type { Store, View } from '../state/types.js'
import { devicesByCredential, edgeCollections, type EdgeDevice } from './edge-rows.js'

/** A device that may send and read back, and whose it is. */
export interface EdgeParty {
  readonly device: EdgeDevice
  readonly owner: Principal
}

const form = /^spe_[A-Za-z0-9_-]{43}$/
const label = 'edge.credential'

export const newCredential = (): string => `spe_${randomBytes(32).toString('base64url')}`

export const credentialDigest = (store: Store, credential: string): string =>
  store.keyedDigest(label, Buffer.from(credential, 'ascii'))

const next = 'Pair the device again: `sallyport edge pair`.'

const invalid = () => fail.unauthorized(
  'edge_credential_invalid', 'There is no such edge credential.', { next },
)
const revoked = () => fail.unauthorized(
  'edge_credential_revoked', 'The pairing of this device has ended.', { next },
)

/** Whether a stop that waits to be recorded ends this pairing, or disables its owner. */
const isStopped = (store: Pick<Store, 'stops'>, view: () => View, row: EdgeDevice): boolean => {
  const lying = store.stops.lying()
  if (lying.length === 0) return false
  const party = {
    principal: row.owner, root: null, task: null, connection: null, device: row.device_id,
    ...offRoutes,
  }
  // What stops every route ends no pairing: devices rest on no policy.
  return pendingStops(lying, view()).some((stop) => covers(stop, party, () => false))
}

/**
 * The device as it stands in the view that `view` gives, which is asked for once the folder of
 * stops was looked at. Throws `unauthorized`: `edge_credential_invalid` where the row is not there
 * or has another credential, `edge_credential_revoked`, `principal_disabled`.
 */
export const currentParty = (
  { store }: Pick<Gov, 'store'>, view: () => View, known: EdgeDevice,
): EdgeParty => {
  const stopped = isStopped(store, view, known)
  const rows = view()
  const device = rows.get(edgeCollections.devices, known.device_id)
  if (device?.credential_digest !== known.credential_digest) throw invalid()
  if (stopped || endOfDevice(rows, device) !== undefined) {
    throw revoked()
  }
  const owner = rows.get(collections.principals, device.owner)
  if (owner === undefined || owner.disabled_at !== null) {
    throw fail.unauthorized('principal_disabled', 'The owner of this device is disabled.')
  }
  return { device, owner }
}

/**
 * Whose credential this is. Throws `unauthorized`: `edge_credential_required` (none),
 * `edge_credential_invalid`, `edge_credential_revoked`, `principal_disabled`; `blocked`
 * `store_behind_anchor`, where an old copy may have a pairing that ended since; `damaged`.
 */
export const authenticateEdge = (
  gov: Pick<Gov, 'store'>, view: View, token: string | null | undefined,
): EdgeParty => {
  if (token === null || token === undefined || token === '') {
    throw fail.unauthorized('edge_credential_required', 'This needs an edge credential.', { next })
  }
  const { store } = gov
  requireSound(store)
  if (!form.test(token)) throw invalid()
  const digest = credentialDigest(store, token)
  const found = rowsUnder(view, edgeCollections.devices, devicesByCredential, {
    under: [digest],
  }).at(-1)?.doc
  if (found === undefined || !sameText(found.credential_digest, digest)) throw invalid()
  return currentParty(gov, () => store.read(), found)
}

/** Compares two hexadecimal digests in constant time. */
export const sameText = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a, 'ascii'), Buffer.from(b, 'ascii')]
  return left.length === right.length && timingSafeEqual(left, right)
}

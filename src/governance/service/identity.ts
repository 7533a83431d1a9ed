/**
 * What the service of one state shows of itself, for as long as that state lives: its port, and a
 * key of its own whose public half devices pin. The key lies sealed in the vault; the certificate
 * is made anew under the same key before it runs out.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { fail } from '../../base/errors.js'
import { pinOf } from '../../net/pin.js'
import { publicPlaceOf } from '../../net/public-place.js'
import { firstMachine } from '../../state/first-machine.js'
import type { Store, Tx, View } from '../../state/types.js'
import { discardStored, discardUnnamed } from '../artifacts.js'
import { appendAudit } from '../audit.js'
import { nowIso, type Gov } from '../context.js'
import { collections, type ServiceRow } from '../rows.js'
import { openCredential, putCredential, sealCredential, type SealedCredential } from '../vault.js'

const the = 'the'

type Where = Pick<Store, 'machine'>

/** Each machine that shares a state has a service, a port and a key of its own. */
const idOf = ({ machine }: Where): string =>
  (machine === null || machine === firstMachine ? the : machine)

/** Vault name of the key. */
const keyNameOf = (store: Where): string => {
  const id = idOf(store)
  return id === the ? 'service_key' : `service_key_${id.replaceAll('-', '_')}`
}

const keyRefOf = (store: Where): string => `vault:${keyNameOf(store)}`

/** What others need to know to reach the service of a state. */
export interface ServiceIdentity {
  /** `https://127.0.0.1:PORT` */
  readonly origin: string
  readonly port: number
  /** See `ServiceRow`. */
  readonly pin: string
  /** PEM: what a script trusts. */
  readonly certificate: string
  /** Where devices of other machines find it; null where they find it nowhere. */
  readonly public: PublicIdentity | null
}

/** A place for machines elsewhere. */
export interface PublicIdentity {
  /** `https://HOST:PORT` */
  readonly origin: string
  /** Where connections to it are forwarded: `127.0.0.1:PORT`. */
  readonly forward_to: string
}

/** What a first start, or a renewal, brings. */
interface ServiceParts {
  readonly port: number
  readonly certificate: string
  /** PKCS #8 DER; left out where the key stays. */
  readonly key?: Buffer
  /** Left out: as it stands. */
  readonly public?: ServiceRow['public']
}

const keyOf = (der: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })

const pinOfKey = (der: Uint8Array): string =>
  pinOf(createPublicKey(keyOf(der)).export({ type: 'spki', format: 'der' }))

/** The row of this machine; undefined before its first start. */
export const findService = (store: Where, view: View): ServiceRow | undefined =>
  view.get(collections.service, idOf(store))

const publicOf = ({ public: elsewhere }: ServiceRow): PublicIdentity | null =>
  (elsewhere === undefined || elsewhere.place === null ? null : {
    origin: publicPlaceOf(elsewhere.place).origin, forward_to: `127.0.0.1:${elsewhere.port}`,
  })

export const identityOf = (row: ServiceRow): ServiceIdentity => {
  const { port, pin, certificate } = row
  return { origin: `https://127.0.0.1:${port}`, port, pin, certificate, public: publicOf(row) }
}

/**
 * How the service of an open state is reached. Throws `blocked` `service_not_set_up` where it was
 * never started.
 */
export const serviceIdentity = ({ store }: Pick<Gov, 'store'>): ServiceIdentity => {
  const row = findService(store, store.read())
  if (row !== undefined) return identityOf(row)
  throw fail.blocked('service_not_set_up', 'The service of this state was never started.', {
    next: 'Start it once, so that it has a port and a key: `sallyport serve`.',
  })
}

/** The service's private key. Throws `blocked` or `damaged` where the vault cannot give it. */
export const openServiceKey = ({ store }: Pick<Gov, 'store'>): KeyObject => {
  const text = openCredential({ store }, keyRefOf(store))
  try {
    return keyOf(Buffer.from(text.toString('latin1'), 'base64url'))
  } finally {
    text.fill(0)
  }
}

/** Writes the row; gives the stored name of a key that it replaces. */
const put = (
  gov: Gov, tx: Tx, before: ServiceRow | undefined, sealed: SealedCredential | null,
  row: ServiceRow,
): string | null => {
  if (JSON.stringify(findService(gov.store, tx)) !== JSON.stringify(before)) {
    throw fail.conflict('service_changed', 'Another service was started first.', {
      next: 'Start it again.',
    })
  }
  const now = nowIso(gov)
  const replaced = sealed === null
    ? null : putCredential(tx, now, sealed, { owner: null, name: keyNameOf(gov.store) })
  tx.put(collections.service, idOf(gov.store), row)
  appendAudit(tx, now, {
    what: before === undefined ? 'service.made' : 'service.changed', principal: null, root: null,
    subject: row.pin, facts: { port: row.port },
  })
  return replaced
}

/**
 * Keeps what a start decided. Throws `conflict` `service_changed` where another start was sooner:
 * the caller goes on with what that one made.
 */
export const keepService = async (
  gov: Gov, before: ServiceRow | undefined,
  { port, certificate, key, public: elsewhere }: ServiceParts,
): Promise<ServiceIdentity> => {
  const { store } = gov
  const pin = key === undefined ? before?.pin : pinOfKey(key)
  if (pin === undefined) throw new TypeError('a first start brings its key')
  const sealed = key === undefined ? null : sealCredential(store, {
    ref: keyRefOf(store), secret: Buffer.from(key.toString('base64url'), 'latin1'),
  })
  const kept = elsewhere ?? before?.public
  const row: ServiceRow = {
    port, pin, certificate, created_at: before?.created_at ?? nowIso(gov),
    ...(kept === undefined ? {} : { public: kept }),
  }
  const stored = [sealed?.artifact.stored_sha256 ?? null]
  const replaced = await discardUnnamed(store, stored, (tried) =>
    store.transact('serve', tried((named, tx) => {
      const former = put(gov, tx, before, sealed, row)
      named()
      return former
    })))
  discardStored(store, replaced)
  return identityOf(row)
}

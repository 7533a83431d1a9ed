/**
 * What the service of one state shows of itself, for as long as that state lives: its port, and a
 * key of its own whose public half devices pin. The key lies sealed in the vault; the certificate
 * is made anew under the same key before it runs out.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import type { Gov } from '../context.js'
import { nowIso } from '../context.js'
import { collections, type ServiceRow } from '../rows.js'
import { openCredential, putCredential, sealCredential, type SealedCredential } from '../vault.js'

/** Vault name of the key. */
export const serviceKeyRef = 'vault:service_key'
const the = 'the'

/** What others need to know to reach the service of a state. */
export interface ServiceIdentity {
  /** `https://127.0.0.1:PORT` */
  readonly origin: string
  readonly port: number
  /** See `ServiceRow`. */
  readonly pin: string
  /** PEM: what a script trusts. */
  readonly certificate: string
}

/** What a first start, or a renewal, brings. */
export interface ServiceParts {
  readonly port: number
  readonly certificate: string
  /** PKCS #8 DER; left out where the key stays. */
  readonly key?: Buffer
}

/** The pin of a key: of its public half, whichever half is given. */
export const pinOf = (key: KeyObject): string => {
  const half = key.type === 'private' ? createPublicKey(key) : key
  const der = half.export({ type: 'spki', format: 'der' })
  return `sha256/${createHash('sha256').update(der).digest('base64url')}`
}

const keyOf = (der: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })

/** The row; undefined before the first start. */
export const findService = (view: View): ServiceRow | undefined =>
  view.get(collections.service, the)

const identityOf = ({ port, pin, certificate }: ServiceRow): ServiceIdentity =>
  ({ origin: `https://127.0.0.1:${port}`, port, pin, certificate })

/**
 * How the service of an open state is reached. Throws `blocked` `service_not_set_up` where it was
 * never started.
 */
export const serviceIdentity = ({ store }: Pick<Gov, 'store'>): ServiceIdentity => {
  const row = findService(store.read())
  if (row !== undefined) return identityOf(row)
  throw fail.blocked('service_not_set_up', 'The service of this state was never started.', {
    next: 'Start it once, so that it has a port and a key: sallyport serve',
  })
}

/** The service's private key. Throws `blocked` or `damaged` where the vault cannot give it. */
export const openServiceKey = ({ store }: Pick<Gov, 'store'>): KeyObject => {
  const text = openCredential({ store }, serviceKeyRef)
  try {
    return keyOf(Buffer.from(text.toString('latin1'), 'base64url'))
  } finally {
    text.fill(0)
  }
}

const put = (
  gov: Gov, tx: Tx, before: ServiceRow | undefined, sealed: SealedCredential | null,
  row: ServiceRow,
): string | null => {
  const now = nowIso(gov)
  const replaced = sealed === null
    ? null : putCredential(tx, now, sealed, { owner: null, name: 'service_key' })
  tx.put(collections.service, the, row)
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
  gov: Gov, before: ServiceRow | undefined, { port, certificate, key }: ServiceParts,
): Promise<ServiceIdentity> => {
  const { store } = gov
  const sealed = key === undefined ? null : sealCredential(store, {
    ref: serviceKeyRef, secret: Buffer.from(key.toString('base64url'), 'latin1'),
  })
  const pin = key === undefined ? before?.pin : pinOf(keyOf(key))
  if (pin === undefined) throw new TypeError('a first start brings its key')
  const row: ServiceRow = {
    port, pin, certificate, created_at: before?.created_at ?? nowIso(gov),
  }
  await store.transact('serve', (tx) => {
    if (JSON.stringify(findService(tx)) !== JSON.stringify(before)) {
      throw fail.conflict('service_changed', 'Another start of the service was sooner.', {
        next: 'Start it again.',
      })
    }
    put(gov, tx, before, sealed, row)
  })
  return identityOf(row)
}

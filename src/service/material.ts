/** The key and the certificate that the service shows; the latter anew before it runs out. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'
import { join } from 'node:path'
import { SallyportError } from '../base/errors.js'
import { tlsFloor } from '../base/tls-floor.js'
import type { Gov } from '../governance/context.js'
import { writePrivate } from '../governance/session/private-file.js'
import { findService, keepService, openServiceKey } from '../governance/service/identity.js'
import { certificateUsable, makeCertificate, newServiceKey } from './certificate.js'

/** Where the certificate of now lies, for programs that trust exactly it. */
export const certificateFileOf = (stateDir: string): string =>
  join(stateDir, 'run', 'service-certificate.pem')

/** The key that was kept; null where a repair has lost its row: devices must pair anew then. */
const keptKey = (gov: Gov): KeyObject | null => {
  try {
    return openServiceKey(gov)
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'credential_missing') return null
    throw error
  }
}

/** What a service listens with. */
export interface Material {
  readonly key: KeyObject
  readonly certificate: string
  /** PKCS #8 DER of a key that was made now and must be kept. */
  readonly newKey?: Buffer
}

const derOf = (key: KeyObject): Buffer => key.export({ type: 'pkcs8', format: 'der' })

/** The key and certificate to listen with. Throws what the vault does. */
export const materialOf = async (gov: Gov): Promise<Material> => {
  const before = findService(gov.store.read())
  const nowMs = gov.clock.wallMs()
  const key = before === undefined ? null : keptKey(gov)
  if (before === undefined || key === null) {
    const newKey = await newServiceKey()
    const made = createPrivateKey({ key: newKey, format: 'der', type: 'pkcs8' })
    return { key: made, certificate: await makeCertificate(newKey, nowMs), newKey }
  }
  const certificate = certificateUsable(before.certificate, key, nowMs)
    ? before.certificate : await makeCertificate(derOf(key), nowMs)
  return { key, certificate }
}

/** Options of a TLS server with it, the first and each later context. */
export const secureOptions = ({ key, certificate }: Material): SecureContextOptions => ({
  key: key.export({ type: 'pkcs8', format: 'pem' }), cert: certificate, ...tlsFloor,
})

/** Something that shows a certificate. */
export interface Shows {
  setSecureContext(options: SecureContextOptions): void
}

/** Writes the certificate where scripts look for it. */
export const writeCertificate = (stateDir: string, certificate: string): void =>
  writePrivate(certificateFileOf(stateDir), certificate)

/**
 * Looks whether the certificate of a service that runs soon runs out, and shows another one under
 * the same key then: a process may live for longer than one is good for.
 */
export class Renewal {
  #material: Material
  readonly #shows: readonly Shows[]

  constructor(material: Material, shows: readonly Shows[]) {
    this.#material = material
    this.#shows = shows
  }

  /** Answers whether it was renewed. Throws what keeping it does: the next look tries again. */
  async look(gov: Gov): Promise<boolean> {
    const { key, certificate } = this.#material
    const nowMs = gov.clock.wallMs()
    const before = findService(gov.store.read())
    if (before === undefined || certificateUsable(certificate, key, nowMs)) return false
    const made = await makeCertificate(derOf(key), nowMs)
    await keepService(gov, before, { port: before.port, certificate: made })
    this.#material = { key, certificate: made }
    for (const server of this.#shows) server.setSecureContext(secureOptions(this.#material))
    writeCertificate(gov.store.dir, made)
    return true
  }
}

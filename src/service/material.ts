/** The key and the certificate that the service shows; the latter anew before it runs out. */
import { KeyObject, X509Certificate, webcrypto, createPrivateKey } from 'node:crypto'
import { join } from 'node:path'
import type { SecureContextOptions } from 'node:tls'
import { SallyportError } from '../base/errors.js'
import { tlsFloor } from '../base/tls-floor.js'
import type { Gov } from '../governance/context.js'
import { findService, keepService, openServiceKey } from '../governance/service/identity.js'
import { writePrivate } from '../governance/session/private-file.js'

// The certificate that the service shows: self-signed, under its lasting key, for loopback.

const dayMs = 24 * 60 * 60 * 1000
const validForMs = 365 * dayMs
/** Clocks that lag (containers, suspended laptops) must not see a certificate from the future. */
const backdatedMs = dayMs
/** With less left than this it is made anew. */
const leftMsMin = 30 * dayMs

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** A key of the service as PKCS #8 DER. */
export const newServiceKey = async (): Promise<Buffer> => {
  const { privateKey } = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  return KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'der' })
}

/** Makes a certificate for 127.0.0.1, ::1 and localhost; PEM. Loads its library on call. */
export const makeCertificate = async (key: Uint8Array, nowMs: number): Promise<string> => {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const crypto = webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]
  x509.cryptoProvider.set(crypto)
  const privateKey = await webcrypto.subtle.importKey('pkcs8', key, algorithm, true, ['sign'])
  const { kty, crv, x, y } = await webcrypto.subtle.exportKey('jwk', privateKey)
  const publicKey = await webcrypto.subtle.importKey(
    'jwk', { kty, crv, x, y } as webcrypto.JsonWebKey, algorithm, true, ['verify'])
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Sallyport service',
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(nowMs + validForMs),
    signingAlgorithm: algorithm,
    keys: { privateKey, publicKey },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
        { type: 'dns', value: 'localhost' },
      ]),
    ],
  })
  return `${made.toString('pem')}\n`
}

/** Whether a certificate is whole, of this key, and stays valid for a while. */
export const certificateUsable = (pem: string, key: KeyObject, nowMs: number): boolean => {
  try {
    const found = new X509Certificate(pem)
    return found.checkPrivateKey(key)
      && Date.parse(found.validFrom) <= nowMs && Date.parse(found.validTo) - nowMs > leftMsMin
  } catch {
    return false
  }
}

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
interface Material {
  readonly key: KeyObject
  readonly certificate: string
  /** PKCS #8 DER of a key that was made now and must be kept. */
  readonly newKey?: Buffer
}

const derOf = (key: KeyObject): Buffer => key.export({ type: 'pkcs8', format: 'der' })

/** The key and certificate to listen with. Throws what the vault does. */
export const materialOf = async (gov: Gov): Promise<Material> => {
  const before = findService(gov.store, gov.store.read())
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
export interface Shows { setSecureContext(options: SecureContextOptions): void }

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
    const before = findService(gov.store, gov.store.read())
    if (before === undefined || certificateUsable(certificate, key, nowMs)) return false
    const made = await makeCertificate(derOf(key), nowMs)
    await keepService(gov, before, { port: before.port, certificate: made })
    this.#material = { key, certificate: made }
    for (const server of this.#shows) server.setSecureContext(secureOptions(this.#material))
    writeCertificate(gov.store.dir, made)
    return true
  }
}

/** The certificate that the service shows: self-signed, under its lasting key, for loopback. */
import { KeyObject, X509Certificate, webcrypto } from 'node:crypto'

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

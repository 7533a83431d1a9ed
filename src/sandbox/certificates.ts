import { KeyObject, X509Certificate, webcrypto } from 'node:crypto'

/**
 * A certificate authority for one sandbox and the one leaf it signed. The authority's private key
 * is thrown away as soon as the leaf exists, so whoever trusts `caPem` trusts this leaf alone.
 */
export interface TlsMaterial {
  readonly caPem: string
  readonly certPem: string
  readonly keyPem: string
}

const yearMs = 365 * 24 * 60 * 60 * 1000
const validForMs = 10 * yearMs
/** Clocks that lag (containers, suspended laptops) must not see a certificate from the future. */
const backdatedMs = 24 * 60 * 60 * 1000
/** A stored certificate with less left than this is made anew. */
const leftMsMin = 24 * 60 * 60 * 1000

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** Makes an authority and a leaf for 127.0.0.1, ::1 and localhost. Loads its library on call. */
export const makeCertificates = async (nowMs = Date.now()): Promise<TlsMaterial> => {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const crypto = webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]
  x509.cryptoProvider.set(crypto)
  const validity = {
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(nowMs + validForMs),
  }
  const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
    webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const [caKeys, leafKeys] = await Promise.all([newKeys(), newKeys()])
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Sallyport sandbox authority',
    ...validity,
    signingAlgorithm: algorithm,
    keys: caKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  })
  const leaf = await x509.X509CertificateGenerator.create({
    subject: 'CN=localhost',
    issuer: ca.subject,
    ...validity,
    signingAlgorithm: algorithm,
    signingKey: caKeys.privateKey,
    publicKey: leafKeys.publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
        { type: 'dns', value: 'localhost' },
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  })
  return {
    caPem: `${ca.toString('pem')}\n`,
    certPem: `${leaf.toString('pem')}\n`,
    keyPem: KeyObject.from(leafKeys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Whether stored material is whole and stays valid for at least a day. */
export const certificatesUsable = (tls: TlsMaterial, nowMs = Date.now()): boolean => {
  try {
    const leaf = new X509Certificate(tls.certPem)
    const ca = new X509Certificate(tls.caPem)
    return (
      leaf.checkIssued(ca) &&
      leaf.verify(ca.publicKey) &&
      Date.parse(leaf.validTo) - nowMs > leftMsMin &&
      Date.parse(leaf.validFrom) <= nowMs
    )
  } catch {
    return false
  }
}

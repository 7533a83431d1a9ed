/** Certificates made on the spot for servers on loopback. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

x509.cryptoProvider.set(webcrypto as never)

/** A certificate and its private key, both PEM. */
export interface Pair {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of one test. */
export interface Authority {
  readonly ca: string
  /** A server certificate for these DNS names and addresses. */
  issue(names: readonly string[], options?: IssueOptions): Promise<Pair>
}

/** How a server certificate differs from an ordinary one. */
export interface IssueOptions {
  readonly notAfter?: Date
  /** Bits of an RSA key; left out: P-256. */
  readonly rsaBits?: number
  /** Bits of the RSA key of an authority in between, sent along; left out: there is none. */
  readonly betweenBits?: number
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const day = 86_400_000
let serial = 1000

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

/** A new RSA key for SHA-256. */
export const newRsaKeys = (bits: number): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey({
    name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: bits,
    publicExponent: new Uint8Array([1, 0, 1]),
  }, true, ['sign', 'verify'])

const pemOf = async (key: webcrypto.CryptoKey): Promise<string> =>
  x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')

/** A new authority, trusted by nobody until its `ca` is handed to a client. */
export const newAuthority = async (name = 'Test CA'): Promise<Authority> => {
  const keys = await newKeys()
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: String(++serial),
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - 30 * day),
    notAfter: new Date(Date.now() + 30 * day),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  })
  /** An authority of its own under the root. */
  const between = async (bits: number) => {
    const own = await newRsaKeys(bits)
    const cert = await x509.X509CertificateGenerator.create({
      serialNumber: String(++serial), subject: 'CN=in between', issuer: root.subject,
      notBefore: new Date(Date.now() - 20 * day), notAfter: new Date(Date.now() + day),
      signingAlgorithm: algorithm, publicKey: own.publicKey, signingKey: keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    })
    return { cert, keys: own }
  }
  const issue: Authority['issue'] = async (names, { notAfter, rsaBits, betweenBits } = {}) => {
    const over = betweenBits === undefined ? null : await between(betweenBits)
    const own = await (rsaBits === undefined ? newKeys() : newRsaKeys(rsaBits))
    const cert = await x509.X509CertificateGenerator.create({
      serialNumber: String(++serial),
      subject: 'CN=not looked at',
      issuer: over?.cert.subject ?? root.subject,
      notBefore: new Date(Date.now() - 20 * day),
      notAfter: notAfter ?? new Date(Date.now() + day),
      signingAlgorithm: over === null ? algorithm : over.keys.publicKey.algorithm,
      publicKey: own.publicKey,
      signingKey: (over?.keys ?? keys).privateKey,
      extensions: [
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns', value })),
        ),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      ],
    })
    const chain = over === null ? [cert] : [cert, over.cert]
    return {
      cert: chain.map((one) => one.toString('pem')).join('\n'), key: await pemOf(own.privateKey),
    }
  }
  return { ca: root.toString('pem'), issue }
}

/** Self-signed certificates under a key that lasts, as the service of this machine has one. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { pinOf } from '../../../src/net/pin.js'
import { newRsaKeys, type Pair } from './certs.js'

x509.cryptoProvider.set(webcrypto as never)

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMs = 86_400_000
let serial = 1

/** A key pair and the pin of its public half. */
export interface LastingKey {
  readonly keys: webcrypto.CryptoKeyPair
  readonly pin: string
}

/** A new key: P-256, or RSA of so many bits. */
export const newKey = async (rsaBits?: number): Promise<LastingKey> => {
  const keys = rsaBits === undefined
    ? await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    : await newRsaKeys(rsaBits)
  const spki = await webcrypto.subtle.exportKey('spki', keys.publicKey)
  return { keys, pin: pinOf(new Uint8Array(spki)) }
}

/** A certificate of its own for these names under the key, valid around now unless said. */
export const selfSigned = async (
  { keys }: LastingKey, names: readonly string[],
  { notBefore = new Date(Date.now() - dayMs), notAfter = new Date(Date.now() + dayMs) } = {},
): Promise<Pair> => {
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: String((serial += 1)), name: 'CN=service', notBefore, notAfter,
    signingAlgorithm: keys.publicKey.algorithm as typeof algorithm, keys,
    extensions: [
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({
        type: /^[\d.]+$|:/.test(value) ? 'ip' as const : 'dns' as const, value,
      }))),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    ],
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { cert: cert.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') }
}

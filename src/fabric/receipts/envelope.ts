/**
 * A DSSE envelope (github.com/secure-systems-lab/dsse, protocol 1.0.2) with one Ed25519 signature
 * (RFC 8032): what is signed is type and payload, each behind its length, so that neither can be
 * taken for part of the other. Pure.
 */
import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import * as v from 'valibot'
import { text } from '../../base/schema.js'

/** The type of what the envelope holds: an in-toto statement. */
export const payloadType = 'application/vnd.in-toto+json'

/** The canonical form of base64 alone: two texts for the same bytes would have two digests. */
const base64 = v.pipe(text, v.check((given) =>
  Buffer.from(given, 'base64').toString('base64') === given))

/** The envelope, closed. */
export const envelopeShape = v.strictObject({
  payload: base64,
  payloadType: v.literal(payloadType),
  signatures: v.pipe(
    v.array(v.strictObject({ keyid: v.optional(text), sig: base64 })),
    v.minLength(1), v.maxLength(16),
  ),
})
export type Envelope = v.InferOutput<typeof envelopeShape>

const signedBytes = (payload: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload,
  ])

/** The public half of a key, and what tells it from others: SHA-256 of its DER, lowercase hex. */
export const publicHalf = (key: KeyObject): { readonly id: string; readonly pem: string } => {
  const half = key.type === 'private' ? createPublicKey(key) : key
  const der = half.export({ type: 'spki', format: 'der' })
  return {
    id: createHash('sha256').update(der).digest('hex'),
    pem: half.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** Signs a payload. The same payload and key give the same envelope. */
export const sealEnvelope = (key: KeyObject, payload: Uint8Array): Envelope => ({
  payload: Buffer.from(payload).toString('base64'),
  payloadType,
  signatures: [{
    keyid: publicHalf(key).id,
    sig: sign(null, signedBytes(payload), key).toString('base64'),
  }],
})

/** The payload of an envelope of which one signature is of this key; null where none is. */
export const openEnvelope = (key: KeyObject, { payload, signatures }: Envelope): Buffer | null => {
  const bytes = Buffer.from(payload, 'base64')
  // The id beside a signature is a hint that nobody signed: it decides nothing.
  const isSigned = signatures.some(({ sig }) =>
    verify(null, signedBytes(bytes), key, Buffer.from(sig, 'base64')))
  return isSigned ? bytes : null
}

/** The file that an envelope is kept as. Its digest names it. */
export const envelopeText = (envelope: Envelope): string => `${JSON.stringify(envelope, null, 2)}\n`

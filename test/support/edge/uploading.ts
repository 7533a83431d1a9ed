/** Devices that are paired with a state, and what they send. */
import { randomUUID } from 'node:crypto'
import { authenticateEdge, type EdgeParty } from '../../../src/edge/credential.js'
import { edgeUpload, type LimitWishes, type UploadHead } from '../../../src/edge/edge-contract.js'
import { offerPairing, pairingPrefix, redeemPairing } from '../../../src/edge/pairing.js'
import type { EdgeArtifact } from '../../../src/edge/edge-rows.js'
import { beginUpload } from '../../../src/edge/upload.js'
import { sha256Hex } from '../../../src/base/canonical.js'
import type { Gov, Session } from '../../../src/governance/context.js'

/** Where an offer says that the service is. */
export const place = { origin: 'https://127.0.0.1:7443', pin: `sha256/${'A'.repeat(43)}` }

/** The code within a pairing string. */
export const codeOf = (pairing: string): string => {
  const line = Buffer.from(pairing.slice(pairingPrefix.length), 'base64url').toString()
  return (JSON.parse(line) as { readonly code: string }).code
}

/** Pairs a device. */
export const pairDevice = async (
  gov: Gov, session: Session, limits: LimitWishes = {},
): Promise<{ readonly credential: string; readonly party: EdgeParty }> => {
  const { pairing } = await offerPairing(gov, session, { ...place, limits })
  const request = { code: codeOf(pairing), device_name: 'camera' }
  const { credential } = await redeemPairing(gov, request)
  return { credential, party: authenticateEdge(gov, gov.store.read(), credential) }
}

/** Bytes that begin as a PNG does and are otherwise made up. */
export const capture = (bytes = 64, fill = 7): Buffer => {
  const body = Buffer.alloc(bytes, fill)
  Buffer.from('89504e470d0a1a0a', 'hex').copy(body)
  return body
}

/** What a device declares of these bytes. */
export const headOf = (
  body: Uint8Array, sequence: number, more: Readonly<Record<string, unknown>> = {},
): UploadHead => edgeUpload.request({
  schema: 'sallyport.edge.upload.input.v1', request_id: randomUUID(), sequence,
  captured_at: '2026-01-02T03:04:05.678Z', sha256: sha256Hex(Buffer.from(body)),
  bytes: body.length, mime: 'image/png', policy: { cloud_egress: false, model_egress: false },
  purpose: 'synthetic-capture', ...more,
})

/** Sends a body whole. */
export const send = async (
  gov: Gov, party: EdgeParty, head: UploadHead, body: Uint8Array, piece = 1 << 16,
): Promise<EdgeArtifact> => {
  const upload = await beginUpload(gov, party, head)
  if (upload.kind === 'known') return upload.artifact
  for (let at = 0; at < body.length; at += piece) upload.write(body.subarray(at, at + piece))
  return upload.finish()
}

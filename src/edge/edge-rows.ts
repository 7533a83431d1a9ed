/**
 * What the paired edge keeps: devices with their counters, open pairing codes, what was sent, and
 * request ids whose bytes are gone. Bytes lie sealed in the artifacts folder; rows hold digests.
 */
import * as v from 'valibot'
import { count, counted, iso, nullableText, sha256, text } from '../base/schema.js'
import { byTail } from '../governance/by-tail.js'
import type { CollectionSpec, Index } from '../state/types.js'
import { edgeMimes } from './constants.js'

/** What a pairing allows. */
export const limitsShape = v.strictObject({
  artifact_bytes_max: counted,
  bytes_max: counted,
  items_max: counted,
  /** Two switches, both off unless a person paired with them; recorded with each artifact. */
  cloud_egress: v.boolean(),
  model_egress: v.boolean(),
})
/** What a pairing allows. */
export type EdgeLimits = v.InferOutput<typeof limitsShape>

const codeShape = v.strictObject({
  code_id: text,
  owner: text,
  /** Session that offered it: a code dies with it. */
  root: text,
  name: nullableText,
  /** Keyed digest of the code; the code itself is never stored. */
  digest: sha256,
  limits: limitsShape,
  issued_at: iso,
  expires_at: iso,
  /** 0: earlier programs counted wrong tries here. */
  tries: count,
})
/** A pairing code that nobody has used yet. */
export type EdgeCode = v.InferOutput<typeof codeShape>

const deviceShape = v.strictObject({
  device_id: text,
  owner: text,
  name: text,
  /** Keyed digest of its credential; the credential itself is never stored. */
  credential_digest: sha256,
  limits: limitsShape,
  /** Highest sequence that was accepted; 0 before the first. */
  last_sequence: count,
  last_upload_at: v.nullable(iso),
  stored: v.strictObject({ items: count, bytes: count }),
  paired_at: iso,
  /** When all pairings of before had ended last (`everyEnd`); left out by earlier programs. */
  outlived: v.optional(v.nullable(iso)),
  /** What it said of its spool last; left out until it says something. */
  spool: v.optional(v.strictObject({ evictions: counted, told_at: iso })),
})
/** A paired device. That its pairing ended is told by `endedDevices`. */
export type EdgeDevice = v.InferOutput<typeof deviceShape>

/** What a device said of how its bytes may be used. */
export const policyShape = v.strictObject({ cloud_egress: v.boolean(), model_egress: v.boolean() })

const artifactShape = v.strictObject({
  artifact_id: text,
  device_id: text,
  owner: text,
  request_id: text,
  sequence: counted,
  captured_at: iso,
  received_at: iso,
  mime: v.picklist(edgeMimes),
  policy: policyShape,
  purpose: text,
  source: nullableText,
  /** Diagnostic only: no file and no id is ever made from it (S-034). */
  source_path: nullableText,
  ref: v.strictObject({ stored_sha256: sha256, sha256, bytes: counted }),
})
/** What a device sent, without its bytes. */
export type EdgeArtifact = v.InferOutput<typeof artifactShape>

const spentShape = v.strictObject({ artifact_id: text, sequence: counted })

export const codesByDigest: Index<EdgeCode> = {
  name: 'digest', parts: 1, keysOf: ({ digest }) => [[digest]],
}
export const devicesByCredential: Index<EdgeDevice> = {
  name: 'credential', parts: 1, keysOf: ({ credential_digest: digest }) => [[digest]],
}
/** Finds a request that was stored. */
export const artifactsByRequest: Index<EdgeArtifact> = {
  name: 'request', parts: 2, keysOf: ({ device_id, request_id }) => [[device_id, request_id]],
}
/** In the order in which they came. */
export const artifactsByDevice: Index<EdgeArtifact> = {
  name: 'device', parts: 1, keysOf: ({ device_id }) => [[device_id]],
}
/** In the order in which they came. */
export const artifactsByOwner: Index<EdgeArtifact> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
export const devicesByOwner: Index<EdgeDevice> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
/** Devices by the end of their ids. */
export const devicesByTail = byTail<EdgeDevice>(({ device_id: id }) => id)
/** What they sent, by the end of its ids. */
export const artifactsByTail = byTail<EdgeArtifact>(({ artifact_id: id }) => id)

/** Collections by name. */
export const edgeCollections = {
  codes: {
    name: 'edge_codes', schema: codeShape, partition: 'one', indexes: [codesByDigest],
  } as CollectionSpec<EdgeCode>,
  devices: {
    name: 'edge_devices', schema: deviceShape, partition: 'one',
    indexes: [devicesByCredential, devicesByOwner, devicesByTail],
  } as CollectionSpec<EdgeDevice>,
  artifacts: {
    name: 'edge_artifacts', schema: artifactShape, partition: 'hash256',
    indexes: [artifactsByRequest, artifactsByDevice, artifactsByOwner, artifactsByTail],
  } as CollectionSpec<EdgeArtifact>,
  /** Request ids, as `<device>/<request id>`, that a state that was replaced had accepted. */
  spent: {
    name: 'edge_spent', schema: spentShape, partition: 'hash256',
  } as CollectionSpec<v.InferOutput<typeof spentShape>>,
} as const

export const spentId = (device: string, request: string): string => `${device}/${request}`

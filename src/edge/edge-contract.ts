/** What goes in and comes out of the operations on paired devices and on what they sent. */
import * as v from 'valibot'
import { isoFromMs } from '../base/clock.js'
import { contract } from '../base/contract.js'
import {
  closedObject, strictInteger, count, iso, nullableText, sha256, text,
} from '../base/schema.js'
import { edgeLimits, edgeMimes, edgeScope } from './constants.js'
import { limitsShape, policyShape, type EdgeArtifact, type EdgeCode } from './edge-rows.js'
import type { DeviceFacts } from './device-facts.js'

const id = (prefix: string) =>
  v.pipe(v.string(), v.regex(new RegExp(`^${prefix}_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)))
const deviceId = id('edge_dev')
const artifactId = id('edge_art')

/** A name: 1 to 64 characters, without control characters, and no space at its ends. */
const nameForm = /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u
const nameRule = `must be 1 to ${edgeLimits.nameCharsMax} visible characters`
// A check and no regex: what JSON Schema calls a pattern knows no classes of characters.
const nameShape = v.pipe(
  v.string(), v.minLength(1, nameRule), v.maxLength(edgeLimits.nameCharsMax, nameRule),
  v.check((name) => nameForm.test(name), nameRule),
)

/** Wishes for the limits of a pairing; what is left out is the default, egress off. */
const wishesShape = closedObject({
  bytes_max: v.optional(strictInteger(1, edgeLimits.bytesMax)),
  items_max: v.optional(strictInteger(1, edgeLimits.itemsMax)),
  cloud_egress: v.optional(v.boolean()),
  model_egress: v.optional(v.boolean()),
})
export type LimitWishes = v.InferOutput<typeof wishesShape>

const scopeShape = v.array(v.picklist(edgeScope))
const storedShape = v.strictObject({ items: count, bytes: count })

/** Shape of a paired device; fields are only ever added. */
export const deviceShape = v.strictObject({
  device_id: text, owner: text, device_name: text, paired_at: iso, last_sequence: count,
  last_upload_at: v.nullable(iso), stored: storedShape, limits: limitsShape,
  /** Captures that left its spool unsent, as it says itself, and when; null: it said nothing. */
  spool_evictions: v.nullable(count), spool_told_at: v.nullable(iso),
  revoked: v.boolean(), ended_at: v.nullable(iso), ended_reason: nullableText,
})
type DeviceDocument = v.InferOutput<typeof deviceShape>

const artifactShape = v.strictObject({
  artifact_id: text, device_id: text, owner: text, request_id: text, sequence: count,
  captured_at: iso, received_at: iso, sha256, bytes: count, mime: v.picklist(edgeMimes),
  policy: policyShape, purpose: text, source: nullableText, source_path: nullableText,
})
/** What a device sent, as a document. */
type ArtifactDocument = v.InferOutput<typeof artifactShape>

const artifactDocument = (row: EdgeArtifact): ArtifactDocument => ({
  artifact_id: row.artifact_id, device_id: row.device_id, owner: row.owner,
  request_id: row.request_id, sequence: row.sequence, captured_at: row.captured_at,
  received_at: row.received_at, sha256: row.ref.sha256, bytes: row.ref.bytes, mime: row.mime,
  policy: row.policy, purpose: row.purpose, source: row.source, source_path: row.source_path,
})

const pairInput = closedObject({
  name: v.optional(nameShape), limits: v.optional(wishesShape),
  /** For a device of this machine, though the service can be found from elsewhere. */
  here: v.optional(v.boolean()),
})
const offered = {
  code_id: text, device_name: nullableText, expires_at: iso, limits: limitsShape,
  /** Where the device finds the service. */
  origin: text,
}

interface Offered {
  readonly code: EdgeCode
  readonly origin: string
}

const offeredDocument = ({ code: { code_id, name, expires_at, limits }, origin }: Offered) =>
  ({ code_id, device_name: name, expires_at, limits, origin })

/** Offering a pairing: what is told of it; the pairing string itself goes to a file alone. */
export const edgePair = contract({
  name: 'edge.pair',
  input: pairInput,
  output: v.strictObject({ ...offered, file: nullableText }),
  toDocument: ({ file, ...offer }: Offered & { readonly file: string | null }) =>
    ({ ...offeredDocument(offer), file }),
})

/** The same over HTTP, where the answer holds the line itself, for who asked and nobody else. */
export const edgeOffer = contract({
  name: 'edge.offer',
  input: pairInput,
  output: v.strictObject({ ...offered, pairing: text }),
  toDocument: ({ pairing, ...offer }: Offered & { readonly pairing: string }) =>
    ({ ...offeredDocument(offer), pairing }),
})

/** Redeeming a code: the one answer that holds the credential. */
export const edgeRedeem = contract({
  name: 'edge.redeem',
  input: closedObject({
    code: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{22}$/)), device_name: nameShape,
  }),
  output: v.strictObject({
    device_id: text, owner: text, device_name: text, credential: text, scope: scopeShape,
    last_sequence: count, limits: limitsShape,
  }),
  toDocument: ({ device, credential }: {
    readonly device: DeviceFacts['device']
    readonly credential: string
  }) => ({
    device_id: device.device_id, owner: device.owner, device_name: device.name, credential,
    scope: [...edgeScope], last_sequence: device.last_sequence, limits: device.limits,
  }),
})

const pairingDocument = ({ device }: Pick<DeviceFacts, 'device'>) => ({
  device_id: device.device_id, owner: device.owner, device_name: device.name,
  last_sequence: device.last_sequence, scope: [...edgeScope], limits: device.limits,
  stored: device.stored, spool_evictions: device.spool?.evictions ?? null,
  revoked: false as const,
})

/** What a device is told of its own pairing: a lost spool resumes from it. */
export const edgePairing = contract({
  name: 'edge.pairing',
  output: v.strictObject({
    device_id: text, owner: text, device_name: text, last_sequence: count, scope: scopeShape,
    limits: limitsShape, stored: storedShape, spool_evictions: v.nullable(count),
    revoked: v.literal(false),
  }),
  toDocument: pairingDocument,
})

/** What a device says of its own spool: how many captures ever left it unsent. */
export const edgeSpool = contract({
  name: 'edge.spool',
  document: 'edge.pairing',
  input: closedObject({ evictions: strictInteger(1, Number.MAX_SAFE_INTEGER) }),
  output: edgePairing.output,
  toDocument: pairingDocument,
})

/** The end of a pairing by its own credential. */
export const edgeEnd = contract({
  name: 'edge.end',
  output: v.strictObject({ device_id: text, ended: v.literal(true) }),
  toDocument: ({ device }: Pick<DeviceFacts, 'device'>) =>
    ({ device_id: device.device_id, ended: true as const }),
})

export const deviceDocument = ({ device, ended }: DeviceFacts): DeviceDocument => ({
  device_id: device.device_id, owner: device.owner, device_name: device.name,
  paired_at: device.paired_at, last_sequence: device.last_sequence,
  last_upload_at: device.last_upload_at, stored: device.stored, limits: device.limits,
  spool_evictions: device.spool?.evictions ?? null, spool_told_at: device.spool?.told_at ?? null,
  revoked: ended !== null, ended_at: ended?.ended_at ?? null, ended_reason: ended?.reason ?? null,
})

/** The operator's devices, newest first. */
export const edgeDevices = contract({
  name: 'edge.devices',
  output: v.array(deviceShape),
  toDocument: (devices: readonly DeviceFacts[]) => devices.map(deviceDocument),
})

const endedDeviceShape = v.strictObject({
  ...deviceShape.entries,
  /** Null for whoever is not its owner, as everything is that tells what it sent. */
  last_sequence: v.nullable(count), stored: v.nullable(storedShape),
  limits: v.nullable(limitsShape),
})

/** Anybody may end a pairing; what its device sent and stored is its owner's to know. */
const endedDocument = (facts: DeviceFacts, isOwn: boolean) => ({
  ...deviceDocument(facts),
  ...(isOwn ? {} : {
    last_sequence: null, last_upload_at: null, stored: null, limits: null, spool_evictions: null,
    spool_told_at: null,
  }),
})

/** Ending a pairing; `ended` says whether it was ended now. */
export const edgeRevoke = contract({
  name: 'edge.revoke',
  input: closedObject({ device: deviceId }),
  output: v.strictObject({ device: endedDeviceShape, ended: v.boolean() }),
  toDocument: ({ device, ended, isOwn }: {
    readonly device: DeviceFacts
    readonly ended: boolean
    readonly isOwn: boolean
  }) => ({ device: endedDocument(device, isOwn), ended }),
})

/** As far as the seconds of a time in UTC. */
const secondChars = '2026-01-01T00:00:00'.length

const uuid = v.pipe(
  v.string(), v.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be a lowercase UUID'),
)
/** Whether a calendar and a clock have it: the last of February is not its 31st day. */
const isOnCalendar = (text: string): boolean => {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && isoFromMs(ms).slice(0, secondChars) === text.slice(0, secondChars)
}

const utc = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/, 'must be a time in UTC that ends in Z'),
  v.isoTimestamp('must be a time in UTC that ends in Z'),
  v.check(isOnCalendar, 'must be a time that there is'),
)
const slug = v.pipe(
  v.string(), v.regex(/^[a-z0-9](?:[a-z0-9._-]{0,63})$/, 'must be 1 to 64 of a-z, 0-9, . _ -'),
)
const uploadInput = 'sallyport.edge.upload.input.v1'

/** What a device declares of an upload (S-028): all but the credential, which is the bearer's. */
export const edgeUpload = contract({
  name: 'edge.upload',
  document: 'edge.artifact',
  input: closedObject({
    schema: v.literal(uploadInput, `must be ${uploadInput}`),
    request_id: uuid,
    sequence: strictInteger(1, Number.MAX_SAFE_INTEGER),
    captured_at: utc,
    sha256,
    // How large one may be is the pairing's to say, and has a refusal of its own.
    bytes: strictInteger(1, Number.MAX_SAFE_INTEGER),
    mime: v.picklist(edgeMimes),
    policy: closedObject({ cloud_egress: v.boolean(), model_egress: v.boolean() }),
    purpose: slug,
    owner: v.optional(v.string()),
    source: v.optional(v.pipe(v.string(), v.maxBytes(edgeLimits.sourceBytesMax))),
    source_path: v.optional(v.pipe(v.string(), v.maxBytes(edgeLimits.sourcePathBytesMax))),
  }),
  output: artifactShape,
  toDocument: artifactDocument,
})
/** What a device declares of an upload. */
export type UploadHead = ReturnType<typeof edgeUpload.request>

/** What is known of one that was sent. */
export const edgeShow = contract({
  name: 'edge.show',
  document: 'edge.artifact',
  input: closedObject({ artifact: artifactId }),
  output: artifactShape,
  toDocument: artifactDocument,
})

/**
 * What was sent, newest first; `next` is where to go on (`before`), null at the end, and
 * `next_page` the whole command that does.
 */
export const edgeArtifactList = contract({
  name: 'edge.artifacts',
  input: closedObject({
    device: v.optional(deviceId),
    limit: v.optional(strictInteger(1, edgeLimits.pageMax)),
    before: v.optional(artifactId),
  }),
  output: v.strictObject({
    artifacts: v.array(artifactShape), next: nullableText, more: v.boolean(),
    next_page: nullableText,
  }),
  toDocument: ({ artifacts, next, nextPage }: {
    readonly artifacts: readonly EdgeArtifact[]
    readonly next: string | null
    readonly nextPage: string | null
  }) => ({
    artifacts: artifacts.map(artifactDocument), next, more: next !== null, next_page: nextPage,
  }),
})

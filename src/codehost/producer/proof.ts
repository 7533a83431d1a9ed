/**
 * Whether a producer is proved to be at rest, from loaded values alone: for recovery and closure. A
 * lock that can be taken, a process that is not there, another boot id prove nothing; only a marker
 * that whoever has the token wrote, under a start record, about this very stage (C-205 to C-211).
 */
import * as v from 'valibot'
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { isOwnRecord } from './mac.js'
import { markerDigest, producerLimits } from './producer-limits.js'
import {
  markerShape, startShape, type ProducerBinding, type StartRecord, type TerminalMarker,
} from './shapes.js'
import { bindingBytes } from './stage.js'

/** What lies in a stage. */
export interface ProducerEvidence {
  /** Inode of the folder; null where there is none, or something else in its place. */
  readonly inode: string | null
  readonly binding: Buffer | null
  readonly start: Buffer | null
  /** Every file with the name of a marker. */
  readonly markers: readonly { readonly name: string, readonly bytes: Buffer | null }[]
  /** Digest of everything else; null where something in it is no regular file. */
  readonly inventorySha256: string | null
}

/** Why there is no proof. */
export type NoProofReason =
  | 'stage_missing' | 'binding_changed' | 'start_missing' | 'start_invalid' | 'marker_missing'
  | 'marker_ambiguous' | 'marker_invalid' | 'marker_legacy' | 'marker_late' | 'stage_changed'

/** What the evidence says. */
export type ProducerVerdict =
  | {
    readonly quiescent: true
    readonly reason: TerminalMarker['reason']
    readonly marker: TerminalMarker
    /** SHA-256 of the marker, for the row that names it. */
    readonly markerSha256: string
  } & (
    | { readonly complete: true, readonly start: StartRecord }
    /** Not everything was made: what was counts for nothing but the proof (C-269). */
    | {
      readonly complete: false
      /** Null where nothing was begun. */
      readonly start: StartRecord | null
    }
  )
  | { readonly quiescent: false, readonly reason: NoProofReason }

const no = (reason: NoProofReason): ProducerVerdict => ({ quiescent: false, reason })

/** A record in its one form: canonical, closed, written with the token. */
const recordOf = <T extends { readonly mac: string }>(
  shape: v.GenericSchema<unknown, T>, bytes: Buffer | null, token: string,
): T | null => {
  if (bytes === null) return null
  try {
    const parsed = v.safeParse(shape, JSON.parse(bytes.toString('utf8')))
    if (!parsed.success || !Buffer.from(canonicalJson(parsed.output)).equals(bytes)) return null
    return isOwnRecord(token, parsed.output) ? parsed.output : null
  } catch {
    return null
  }
}

const isLegacy = (bytes: Buffer | null): boolean => {
  try {
    const value: unknown = JSON.parse(bytes?.toString('utf8') ?? '')
    const schema = typeof value === 'object' && value !== null && 'schema' in value
      ? value.schema : null
    return typeof schema === 'string' && schema !== 'svc.codehost.producer_marker.v1'
  } catch {
    return false
  }
}

const nsPerMs = 1_000_000n

const isOfBinding = (
  record: Pick<StartRecord | TerminalMarker, 'producer_id' | 'job_id' | 'binding_sha256'>,
  binding: ProducerBinding, bindingSha256: string,
): boolean => record.producer_id === binding.producer_id && record.job_id === binding.job.job_id
  && record.binding_sha256 === bindingSha256

const startOf = (
  binding: ProducerBinding, bindingSha256: string, token: string, bytes: Buffer | null,
): StartRecord | null => {
  const start = recordOf(startShape, bytes, token)
  if (start === null || !isOfBinding(start, binding, bindingSha256)) return null
  const { helper, node, git, addon, inputs } = binding
  const digests = {
    helper: helper.sha256, node: node.sha256, git: git.sha256, addon: addon.sha256,
    manifest: inputs.manifest_sha256,
  }
  const wallNs = BigInt(start.deadline_ns) - BigInt(start.started_ns)
  const fits = wallNs >= 0n && wallNs <= BigInt(producerLimits.wallMs) * nsPerMs
  const same = canonicalJson(start.digests) === canonicalJson(digests)
  return fits && same && start.token_sha256 === binding.token_sha256 ? start : null
}

/** The marker of a supervisor that was given too little to start anything, or let start nothing. */
const isNotBegun = (
  { start_sha256: start, made, exits, end, reason, quiescence, ...marker }: TerminalMarker,
  binding: ProducerBinding, bindingSha256: string,
): boolean => isOfBinding(marker, binding, bindingSha256) && start === null && exits === null
  && end === 'prefix' && reason === 'not_begun' && quiescence.reaped === 0
  && made.blobs + made.trees + made.commits === 0

const markerProblem = (
  marker: TerminalMarker, start: StartRecord, startSha256: string, binding: ProducerBinding,
): NoProofReason | null => {
  const { made, end, reason } = marker
  const { inputs } = binding
  const whole = made.blobs === inputs.files && made.trees === inputs.trees && made.commits === 1
  const isOne = isOfBinding(marker, binding, start.binding_sha256)
    && marker.start_sha256 === startSha256 && marker.boot_id === start.boot_id
    && marker.exits !== null && reason !== 'not_begun'
  if (!isOne || (end === 'complete') !== (reason === null)) return 'marker_invalid'
  if (end === 'complete' && !whole) return 'marker_invalid'
  const endedNs = BigInt(marker.ended_ns)
  if (endedNs < BigInt(start.started_ns)) return 'marker_invalid'
  return endedNs > BigInt(start.deadline_ns) ? 'marker_late' : null
}

/** Judges what lies in a stage against what was bound. `token` is `producerToken` of its id. */
export const judgeProducer = (
  binding: ProducerBinding, token: string, evidence: ProducerEvidence,
): ProducerVerdict => {
  if (evidence.inode !== binding.stage.inode) return no('stage_missing')
  const bound = bindingBytes(binding)
  if (evidence.binding === null || !bound.equals(evidence.binding)) return no('binding_changed')
  if (sha256Hex(token) !== binding.token_sha256) return no('binding_changed')
  const [found, another] = evidence.markers
  if (evidence.start === null && found === undefined) return no('start_missing')
  const start = evidence.start === null
    ? null : startOf(binding, sha256Hex(bound), token, evidence.start)
  if (evidence.start !== null && start === null) return no('start_invalid')
  if (found === undefined) return no('marker_missing')
  if (another !== undefined) return no('marker_ambiguous')
  if (isLegacy(found.bytes)) return no('marker_legacy')
  const marker = recordOf(markerShape, found.bytes, token)
  const markerSha256 = found.bytes === null ? '' : sha256Hex(found.bytes)
  if (marker === null || markerDigest(found.name) !== markerSha256) return no('marker_invalid')
  const problem = evidence.start === null || start === null
    ? isNotBegun(marker, binding, sha256Hex(bound)) ? null : 'start_missing'
    : markerProblem(marker, start, sha256Hex(evidence.start), binding)
  if (problem !== null) return no(problem)
  if (marker.inventory_sha256 !== evidence.inventorySha256) return no('stage_changed')
  const proved = { quiescent: true, reason: marker.reason, marker, markerSha256 } as const
  return marker.end === 'complete' && start !== null
    ? { ...proved, complete: true, start } : { ...proved, complete: false, start }
}

/**
 * What is bound when a publication is approved, what the supervisor writes before it gives git
 * anything, and what it writes when nothing of it is left (C-079, C-265, C-267).
 */
import * as v from 'valibot'
import { count, sha256 } from '../../base/schema.js'
import { isolationClaim, recoveryContract } from './producer-limits.js'

const text = v.pipe(v.string(), v.maxLength(4096))
const nanoseconds = v.pipe(v.string(), v.regex(/^(?:0|[1-9]\d{0,19})$/))
const texts = v.array(v.string())
const variables = v.record(v.string(), v.string())

const claims = {
  isolation_claim: v.literal(isolationClaim), recovery_contract: v.literal(recoveryContract),
}

const file = v.strictObject({ path: text, sha256 })
const program = v.strictObject({ path: text, version: text, sha256 })

/** Whose work it is; every part was fixed by whoever approved it. */
const producerJobShape = v.strictObject({
  job_id: v.pipe(v.string(), v.regex(/^[a-z]{2,8}_[0-9a-f-]{36}$/)),
  root_id: text, attempt: count, authority: text, fence: count,
})
export type ProducerJob = v.InferOutput<typeof producerJobShape>

/** Everything that a producer is, and is given. */
export const bindingShape = v.strictObject({
  schema: v.literal('svc.codehost.producer_binding.v1'),
  ...claims,
  /** Made anew for every approval. */
  producer_id: text,
  job: producerJobShape,
  helper: file, node: program, git: program, addon: file,
  arguments: v.strictObject({
    node: texts, git: v.strictObject({ blobs: texts, trees: texts, commit: texts }),
  }),
  environment: v.strictObject({ supervisor: variables, git: variables }),
  inputs: v.strictObject({
    manifest_sha256: sha256, manifest_bytes: count, files: count, file_bytes: count, trees: count,
  }),
  stage: v.strictObject({ inode: v.string(), inventory_sha256: sha256 }),
  token_sha256: sha256,
})
export type ProducerBinding = v.InferOutput<typeof bindingShape>

/** A process: a number alone is used again by another one day. */
const processShape = v.strictObject({ pid: count, start_ticks: v.string() })

/** Durable before git is given its first byte. */
export const startShape = v.strictObject({
  schema: v.literal('svc.codehost.producer_start.v1'),
  ...claims,
  producer_id: text, job_id: text, binding_sha256: sha256, token_sha256: sha256,
  boot_id: text,
  supervisor: processShape,
  session: count, group: count,
  children: v.strictObject({ blobs: processShape, trees: processShape, commit: processShape }),
  digests: v.strictObject({
    helper: sha256, node: sha256, git: sha256, addon: sha256, manifest: sha256,
  }),
  /** Monotonic. */
  started_ns: nanoseconds, deadline_ns: nanoseconds,
  /** HMAC-SHA-256 of all other members under the token. */
  mac: sha256,
})
export type StartRecord = v.InferOutput<typeof startShape>

/** Why a producer ended before it had made everything. */
const prefixReasons = [
  'not_begun', 'input_ended', 'input_invalid', 'stopped', 'wall', 'id_differs', 'git_failed',
  'output_exceeded',
  'pipe_failed',
] as const
export type PrefixReason = (typeof prefixReasons)[number]

const exitShape = v.strictObject({ code: v.nullable(v.number()), signal: v.nullable(v.string()) })

/**
 * Durable once nothing is left of what the supervisor started, or once it is sure that it will
 * start nothing: `not_begun`, without a start record and without children.
 */
export const markerShape = v.strictObject({
  schema: v.literal('svc.codehost.producer_marker.v1'),
  ...claims,
  producer_id: text, job_id: text, binding_sha256: sha256,
  /** Null where nothing was begun. */
  start_sha256: v.nullable(sha256),
  boot_id: text,
  end: v.picklist(['complete', 'prefix']),
  reason: v.nullable(v.picklist(prefixReasons)),
  /** How many ids git gave and were the approved ones. */
  made: v.strictObject({ blobs: count, trees: count, commits: count }),
  exits: v.nullable(v.strictObject({ blobs: exitShape, trees: exitShape, commit: exitShape })),
  quiescence: v.strictObject({
    exits_seen: v.literal(true), pipes_at_eof: v.literal(true), waitpid: v.literal('ECHILD'),
    /** Processes that git left to the supervisor and that it reaped. */
    reaped: count,
  }),
  ended_ns: nanoseconds,
  /** Every file of the stage when nothing could change it any more. */
  inventory_sha256: sha256,
  mac: sha256,
})
export type TerminalMarker = v.InferOutput<typeof markerShape>

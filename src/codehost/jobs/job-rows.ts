/**
 * Rows of jobs: what somebody prepared to be written through a connection, under which consent,
 * session and credential, and how far it came. What was sent is told by the histories beside.
 */
import * as v from 'valibot'
import { count, counted, iso, nullableText, sha256, text } from '../../base/schema.js'
import { byTail } from '../../governance/by-tail.js'
import { authorShape } from '../../governance/connections/connection-rows.js'
import type { CollectionSpec, Index } from '../../state/types.js'
import { codehostActions } from '../constants.js'
import { nativeKinds, publicCapabilities } from './kinds.js'

const nullableSha256 = v.nullable(sha256)

/**
 * States of a job. `prepared` and `approved` wait for a person; `blocked` may go on where something
 * is left that was never sent; `unknown_external_effect`: something may have happened that nobody
 * has read back.
 */
export const jobStates = [
  'prepared', 'approved', 'running', 'succeeded', 'unknown_external_effect', 'blocked', 'failed',
  'cancelled',
] as const
export type JobState = (typeof jobStates)[number]

/** The consent that a job was prepared under; it never changes (C-009, C-010). */
const bindingShape = v.strictObject({
  consent_id: text,
  binding_sha256: sha256,
  /** Revision of the connection that the consent's own save produced. */
  revision: counted,
  policy_fence: count,
  expires_at: iso,
})

const vaultShape = v.strictObject({
  id: text, owner: nullableText, name: text, updates: count, sealed_sha256: sha256,
  /** Digest of the five. */
  sha256,
})

const approvalShape = v.strictObject({
  kind: v.picklist(['exact', 'standing']),
  preview_sha256: sha256,
  root: text,
  consent_id: text,
  /** Revision of the connection that the consent is of. */
  consent_revision: counted,
  /** The standing authority that stands for the approval; null for an exact one. */
  standing_id: nullableText,
  /** What the local work of a publication is bound to (C-079); null for an issue or a comment. */
  producer: v.nullable(v.strictObject({
    producer_id: text,
    /** The sealed binding, and the SHA-256 by which the producer's own records name it. */
    artifact_id: text, binding_sha256: sha256,
  })),
  at: iso,
  /** Digest of all of the above and the id of the job. */
  sha256,
})
/** What lets a job run, bound to what was previewed. */
export type Approval = v.InferOutput<typeof approvalShape>

/** What the host calls what it made. */
const remoteShape = v.strictObject({
  /** Of the last effect that the host has numbered. */
  effect: counted,
  /** Number of an issue or pull request, id of a comment. */
  id: counted,
})

const jobShape = v.strictObject({
  job_id: text,
  /** Raised by every change of this row: the job's receipt revision. */
  revision: counted,
  native_kind: v.picklist(nativeKinds),
  /** The authority that it declares; compared with the kind at each boundary (C-050). */
  capability: v.picklist(Object.values(publicCapabilities)),
  state: v.picklist(jobStates),
  /** Why it stands where it stands, snake_case; null where the state says all. */
  reason: nullableText,
  owner: text,
  /** The session that prepared it: only this one, live, contacts anybody for it. */
  root: text,
  goal_id: text,
  goal_revision: count,
  connection_id: text,
  repository: text,
  repository_id: counted,
  consent: bindingShape,
  vault: vaultShape,
  /** Who makes what it sends, by its consent; left out of jobs of before that was asked. */
  author: v.optional(v.nullable(authorShape)),
  /** The nonce behind its text; left out where it has none. */
  mark: v.optional(text),
  /** Which publications its branch is numbered among; left out where it is not numbered. */
  series: v.optional(sha256),
  /** Tells the token itself, whatever connection has it: a host counts by it. */
  token_fingerprint: text,
  /** What its effects need of a consent, in the order of the list. */
  actions: v.pipe(v.array(v.picklist(codehostActions)), v.minLength(1)),
  /** Digests: of what it rests on, of what was asked for, and of the run under way or last. */
  authority_sha256: sha256,
  input_sha256: sha256,
  run_sha256: nullableSha256,
  idempotency_key: text,
  request_sha256: sha256,
  /** The sealed plan, and the digest of its canonical bytes. */
  plan: v.strictObject({ artifact_id: text, sha256, effects: counted }),
  /** What an approval names. */
  preview_sha256: sha256,
  approval: v.nullable(approvalShape),
  /** Null until it ran. */
  task_id: nullableText,
  /** Runs so far. */
  attempt: count,
  /** Fence of its last reservation; null before the first. */
  fence: v.nullable(counted),
  /** Whether it occupies its connection. */
  reserved: v.boolean(),
  /** What was sent and what of that is known; recounted from the history by `state check`. */
  contacted: count,
  created: count,
  remote: v.nullable(remoteShape),
  /** When the host lets its token come back; left out where it named no limit, or no time. */
  retry_at: v.optional(iso),
  /** Receipt of the readback that proved it; null until one did. */
  receipt_id: nullableText,
  /**
   * The permanent fence of a closed job: whatever would execute it is refused from then on. Only a
   * closure of its capacity will ever set it.
   */
  closed: v.nullable(v.strictObject({ closure_id: text, at: iso, fence: counted })),
  /** Taken over from a state that an old copy replaced. */
  restored: v.optional(v.literal(true)),
  created_at: iso,
  updated_at: iso,
})
export type Job = v.InferOutput<typeof jobShape>

/** Jobs of an owner, in the order of their ids, which is that of time. */
export const jobsByOwner: Index<Job> = { name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]] }
export const jobsByOwnState: Index<Job> = {
  name: 'owner_state', parts: 2, keysOf: ({ owner, state }) => [[owner, state]],
}
export const jobsByState: Index<Job> = { name: 'state', parts: 1, keysOf: ({ state }) => [[state]] }
export const jobsByConnection: Index<Job> = {
  name: 'owner_connection', parts: 2,
  keysOf: ({ owner, connection_id: connection }) => [[owner, connection]],
}
export const jobsByConnectionState: Index<Job> = {
  name: 'owner_connection_state', parts: 3,
  keysOf: ({ owner, connection_id: connection, state }) => [[owner, connection, state]],
}
export const jobsByKey: Index<Job> = {
  name: 'key', parts: 1, keysOf: ({ idempotency_key: key }) => [[key]],
}

/** Publications that were proved, by the series that their branches are numbered in. */
export const provedBySeries: Index<Job> = {
  name: 'proved_series', parts: 2,
  keysOf: ({ owner, series, state, remote }) =>
    (series === undefined || state !== 'succeeded' || remote === null ? [] : [[owner, series]]),
}

/** The hour of a time, as the index below has it. */
export const hourOf = (at: string): string => at.slice(0, 'YYYY-MM-DDTHH'.length)

/** Jobs that sent something, by their token and the hour of their last change. */
export const jobsByToken: Index<Job> = {
  name: 'token_hour', parts: 2,
  keysOf: ({ contacted, token_fingerprint: token, updated_at: at }) =>
    (contacted > 0 ? [[token, hourOf(at)]] : []),
}

/** Closed jobs by the consent that they ran under. */
export const closedByConsent: Index<Job> = {
  name: 'closed_consent', parts: 1,
  keysOf: ({ closed, consent }) => (closed === null ? [] : [[consent.consent_id]]),
}
/** Jobs by the end of their ids. */
export const jobsByTail = byTail<Job>(({ job_id: id }) => id)

export const jobCollection: CollectionSpec<Job> = {
  name: 'codehost_jobs', schema: jobShape, partition: 'hash256',
  indexes: [
    jobsByOwner, jobsByOwnState, jobsByState, jobsByConnection,
    jobsByConnectionState, jobsByKey, jobsByToken, closedByConsent,
    jobsByTail, provedBySeries,
  ],
}

const standingShape = v.strictObject({
  standing_id: text,
  connection_id: text,
  /** It ends with this consent, whatever else it says. */
  consent_id: text,
  owner: text,
  root: text,
  actions: v.pipe(v.array(v.picklist(codehostActions)), v.minLength(1)),
  issued_at: iso,
  expires_at: iso,
  jobs_max: counted,
  /** Jobs that it stands for, each once. */
  jobs: v.array(text),
})
/** A finite authority that stands for the approval of follow-through jobs. */
export type Standing = v.InferOutput<typeof standingShape>

export const standingByConnection: Index<Standing> = {
  name: 'connection', parts: 1, keysOf: ({ connection_id: connection }) => [[connection]],
}

export const standingCollection: CollectionSpec<Standing> = {
  name: 'codehost_standing', schema: standingShape, partition: 'hash256',
  indexes: [standingByConnection],
}

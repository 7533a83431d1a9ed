/**
 * What every prepared job is made of: the consent, session, goal and credential that it rests on,
 * out of rows of one view, and the one record that writes it.
 */
import { digestOf } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { registerArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import { findIdempotent } from '../../governance/board/admit.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import type { Connection, Grant } from '../../governance/connections/connection-rows.js'
import { defaultGoal, requireOpenGoal } from '../../governance/goals.js'
import { noteNamed } from '../../governance/session/named.js'
import type { Session } from '../../governance/context.js'
import { secretFingerprint, vaultDigest, vaultIdentity } from '../../governance/vault.js'
import { rowsUnder } from '../../state/indexes.js'
import type { ArtifactRef, Store, Tx, View } from '../../state/types.js'
import { consentWay } from '../consent-line.js'
import type { CodehostAction } from '../constants.js'
import { putJob } from './change.js'
import { authorityDigest, previewDigest } from './digests.js'
import { appendEntry, artifactHistory, effectHistory } from './histories.js'
import { publicCapabilities, type NativeKind } from './kinds.js'
import { jobCollection, jobsByKey, type Job } from './job-rows.js'
import { seriesOf } from './series.js'

/** What tells one request from another. */
interface RequestKey {
  readonly kind: NativeKind
  /** A UUID of the caller's, or a new one. */
  readonly key: string
  /** Digest of everything that was asked for. */
  readonly digest: string
}

/** An own job that has the key is told: a request through another connection may be a repeat. */
const keyTaken = (own: string | null) => fail.conflict(
  'idempotency_conflict', 'This key has been used for another request.', {
    next: own === null ? 'Leave the key out, or give a new UUID.'
      : `Look first at what it made, with \`sallyport codehost jobs ${own}\`. `
        + 'Another key asks for another one.',
  },
)

/** The job that this key and request have made before; null where the key is new (C-283). */
export const replayed = (
  view: View, session: Session, { kind, key, digest }: RequestKey,
): Job | null => {
  const [found] = rowsUnder(view, jobCollection, jobsByKey, { under: [key], limit: 1 })
  if (found !== undefined) {
    const isOwn = found.doc.owner === session.principal.principal_id
    if (isOwn && found.doc.request_sha256 === digest) return found.doc
    throw keyTaken(isOwn ? found.doc.job_id : null)
  }
  if (findIdempotent(view, session, { kind, key, requestDigest: digest }) !== null) {
    throw keyTaken(null)
  }
  return null
}

const consentOf = (connection: Connection, actions: readonly CodehostAction[]): Grant => {
  const { consent } = connection
  if (consent === null) {
    throw fail.unauthorized('codehost_write_denied', 'Writes need a consent of the connection.', {
      reason: 'consent_missing', next: consentWay(connection, actions),
    })
  }
  return consent
}

const bindingOf = (
  connection: Connection, actions: readonly CodehostAction[],
): Pick<Job, 'consent' | 'author'> => {
  const { author = null, ...consent } = consentOf(connection, actions)
  const { consent_id, binding_sha256, revision, policy_fence, expires_at } = consent
  return { consent: { consent_id, binding_sha256, revision, policy_fence, expires_at }, author }
}

const vaultOf = (view: View, connection: Connection): Job['vault'] => {
  const identity = vaultIdentity(view, connection.credential_ref)
  const sha256 = vaultDigest(view, connection.credential_ref)
  if (identity !== null && sha256 !== null) return { ...identity, sha256 }
  throw fail.blocked('credential_missing', 'The connection has no stored token.', {
    next: `Store one: \`sallyport codehost connect --connection ${connection.connection_id} `
      + `--token-file F --expected-revision ${connection.revision}\`.`,
  })
}

/** What somebody wants to be done through a connection. */
export interface JobWish {
  readonly kind: NativeKind
  readonly jobId: string
  readonly connectionId: string
  /** Left out: the owner's default goal. */
  readonly goalId?: string | undefined
  /** What its effects need of a consent, in the order of the list. */
  readonly actions: readonly CodehostAction[]
  /** The nonce behind its text; left out where it has none. */
  readonly mark?: string | undefined
  /** The name in which a place is numbered by the job; left out where none is. */
  readonly numbered?: string | undefined
  readonly request: RequestKey
}

const goalOf = (view: View, session: Session, goalId: string | undefined) => {
  const owner = session.principal.principal_id
  return goalId === undefined ? defaultGoal(view, owner) : requireOpenGoal(view, owner, goalId)
}

/** Of an account that others share the mark alone tells what this job makes. */
const requireTold = (author: Job['author'], mark: string | undefined): void => {
  if (mark !== undefined || (author ?? null) !== null) return
  throw fail.rejected(
    'mark_required', 'The host does not say whose this token is, so a lookalike could pass for '
      + 'what this job makes.', { next: 'Prepare it with `--mark`.' },
  )
}

/** A job before its plan is sealed: what it rests on, out of rows of one view. */
export type JobDraft = Omit<Job, 'input_sha256' | 'plan' | 'preview_sha256'>

/** What it rests on. Throws `not_found`, `unauthorized` and `blocked` for what is not there. */
export const draftOf = (
  store: Store, view: View, session: Session, now: string, wish: JobWish,
): JobDraft => {
  const { kind, jobId, connectionId, request } = wish
  const connection = requireOwnConnection(view, session, connectionId)
  const goal = goalOf(view, session, wish.goalId)
  const actions = [...wish.actions]
  const bound = bindingOf(connection, wish.actions)
  requireTold(bound.author, wish.mark)
  const authority = {
    owner: connection.owner, root: session.root.root_id, goal_id: goal.goal_id,
    goal_revision: goal.revision, connection_id: connectionId, repository: connection.repository,
    repository_id: connection.repository_id ?? 0, ...bound,
    vault: vaultOf(view, connection), native_kind: kind, capability: publicCapabilities[kind],
    actions, ...(wish.mark === undefined ? {} : { mark: wish.mark }),
  }
  return {
    ...authority, job_id: jobId, authority_sha256: authorityDigest(authority),
    token_fingerprint: secretFingerprint(store, view, connection.credential_ref),
    revision: 0, state: 'prepared', reason: null, run_sha256: null,
    idempotency_key: request.key, request_sha256: request.digest, approval: null, task_id: null,
    ...(wish.numbered === undefined
      ? {} : { series: seriesOf(connection, wish.numbered) }),
    attempt: 0, fence: null, reserved: false, contacted: 0, created: 0, remote: null,
    receipt_id: null, closed: null, created_at: now, updated_at: now,
  }
}

/** The job with its plan, and the digest that an approval names. */
export const plannedJob = (
  draft: JobDraft, host: string, of: { readonly input: unknown, readonly plan: Job['plan'] },
): Job => {
  const bound = {
    job_id: draft.job_id, authority_sha256: draft.authority_sha256,
    input_sha256: digestOf(of.input), plan: of.plan,
  }
  return { ...draft, ...bound, preview_sha256: previewDigest(bound, host) }
}

/** Sealed content of a job that is registered with it. */
export interface JobArtifact {
  readonly artifactId: string
  readonly label: string
  readonly ref: ArtifactRef
}

/** Registers sealed content of a job in its own record, and tells its history. */
export const registerJobArtifact = (
  tx: Tx, now: string, job: Pick<Job, 'job_id' | 'owner'>, { artifactId, label, ref }: JobArtifact,
): void => {
  registerArtifact(tx, now, {
    artifactId, label, ref, owner: job.owner, taskId: null, adopted: true,
  })
  appendEntry(tx, artifactHistory, job.job_id, {
    at: now, artifact_id: artifactId, label, sha256: ref.sha256,
    stored_sha256: ref.stored_sha256, bytes: ref.bytes,
  })
}

/** Writes a prepared job; its plan is registered in its ledger before anything is. */
export const writeJob = (tx: Tx, now: string, job: Job, artifacts: readonly JobArtifact[]): Job => {
  appendEntry(tx, effectHistory, job.job_id, {
    type: 'plan', at: now, artifact_id: job.plan.artifact_id, sha256: job.plan.sha256,
    effects: job.plan.effects, authority_sha256: job.authority_sha256,
  })
  for (const one of artifacts) registerJobArtifact(tx, now, job, one)
  appendAudit(tx, now, {
    what: 'codehost.prepared', principal: job.owner, root: job.root, subject: job.job_id,
    facts: { kind: job.native_kind, connection: job.connection_id, effects: job.plan.effects },
  })
  noteNamed(tx, job.root)
  return putJob(tx, now, job, {})
}

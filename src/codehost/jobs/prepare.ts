/**
 * Preparing an issue or a comment: what will be sent is sealed, with the consent, session and
 * credential that it rests on. Nobody is contacted, no task is made, no connection occupied.
 */
import { randomUUID } from 'node:crypto'
import { isoFromMs } from '../../base/clock.js'
import { digestOf } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { discardStored, registerArtifact } from '../../governance/artifacts.js'
import { findIdempotent } from '../../governance/board/admit.js'
import { requireOwnConnection } from '../../governance/connections/read.js'
import type { Connection } from '../../governance/connections/rows.js'
import { appendAudit } from '../../governance/audit.js'
import { defaultGoal, requireOpenGoal } from '../../governance/goals.js'
import type { Gov } from '../../governance/context.js'
import { liveSession } from '../../governance/session/live.js'
import { noteNamed } from '../../governance/session/named.js'
import type { Session } from '../../governance/session/types.js'
import { vaultDigest, vaultIdentity } from '../../governance/vault.js'
import { rowsUnder } from '../../state/indexes.js'
import type { ArtifactRef, Tx, View } from '../../state/types.js'
import { planLabel } from '../constants.js'
import { codehostBase } from '../context.js'
import { requireHostText } from '../plan/texts.js'
import { requirePrerequisites } from './boundary.js'
import { putJob } from './change.js'
import { authorityDigest, previewDigest } from './digests.js'
import { appendEntry, artifactHistory, effectHistory } from './histories.js'
import { followThroughKind, publicCapabilities } from './kinds.js'
import { requireOutlives } from './outlive.js'
import { actionOf, followPlan, planBytes, type FollowPlan, type FollowWish } from './plan.js'
import { jobCollection, jobsByKey, type Job } from './rows.js'

/** What somebody wants to have written. */
export interface FollowRequest {
  readonly connectionId: string
  readonly wish: FollowWish
  /** Left out: the owner's default goal. */
  readonly goalId?: string | undefined
  /** Left out: a new one. */
  readonly idempotencyKey?: string | undefined
}

const requireText = (wish: FollowWish): void =>
  requireHostText(wish.what === 'issue'
    ? { title: wish.title, body: wish.body } : { body: wish.body })

const requestDigest = ({ connectionId, wish, goalId }: FollowRequest): string =>
  digestOf({ kind: followThroughKind, connection: connectionId, wish, goal: goalId ?? null })

const keyTaken = () => fail.conflict(
  'idempotency_conflict', 'This key has been used for another request.', {
    next: 'Leave the key out, or give a new UUID.',
  },
)

/** The job that this key and request have made before; null where the key is new (C-283). */
const replayed = (
  view: View, session: Session, key: string, request: FollowRequest,
): Job | null => {
  const [found] = rowsUnder(view, jobCollection, jobsByKey, { under: [key], limit: 1 })
  const digest = requestDigest(request)
  if (found !== undefined) {
    const same = found.doc.owner === session.principal.principal_id
      && found.doc.request_sha256 === digest
    if (same) return found.doc
    throw keyTaken()
  }
  const other = findIdempotent(view, session, {
    kind: followThroughKind, key, requestDigest: digest,
  })
  if (other !== null) throw keyTaken()
  return null
}

const bindingOf = (connection: Connection): Job['consent'] => {
  const { consent } = connection
  if (consent === null) {
    throw fail.unauthorized('codehost_write_denied', 'Writes need a consent of the connection.', {
      reason: 'consent_missing',
      next: `Give one: sallyport codehost consent ${connection.connection_id} --action A… `
        + `--acknowledge --expected-revision ${connection.revision}`,
    })
  }
  const { consent_id, binding_sha256, revision, policy_fence, expires_at } = consent
  return { consent_id, binding_sha256, revision, policy_fence, expires_at }
}

const vaultOf = (view: View, connection: Connection): Job['vault'] => {
  const identity = vaultIdentity(view, connection.credential_ref)
  const sha256 = vaultDigest(view, connection.credential_ref)
  if (identity !== null && sha256 !== null) return { ...identity, sha256 }
  throw fail.blocked('credential_missing', 'The connection has no stored token.', {
    next: 'Store one: sallyport codehost connect --connection ID --token-file F '
      + '--expected-revision N',
  })
}

interface Draft {
  readonly request: FollowRequest
  readonly key: string
  readonly jobId: string
  readonly plan: FollowPlan
  readonly ref: ArtifactRef
}

const goalOf = (view: View, session: Session, { goalId }: FollowRequest) => {
  const owner = session.principal.principal_id
  return goalId === undefined ? defaultGoal(view, owner) : requireOpenGoal(view, owner, goalId)
}

/** The job as it will be written, from rows of one view. */
const jobOf = (
  view: View, session: Session, now: string,
  { request, key, jobId, ref, plan }: Draft,
): Job => {
  const { wish, connectionId } = request
  const connection = requireOwnConnection(view, session, connectionId)
  const goal = goalOf(view, session, request)
  const authority = {
    owner: connection.owner, root: session.root.root_id, goal_id: goal.goal_id,
    goal_revision: goal.revision, connection_id: connectionId, repository: connection.repository,
    repository_id: connection.repository_id ?? 0, consent: bindingOf(connection),
    vault: vaultOf(view, connection), native_kind: followThroughKind,
    capability: publicCapabilities[followThroughKind], actions: [actionOf(wish)],
  } as const
  const bound = {
    job_id: jobId, authority_sha256: authorityDigest({ ...authority, actions: [actionOf(wish)] }),
    input_sha256: digestOf(wish),
    plan: { artifact_id: newId('art'), sha256: ref.sha256, effects: plan.effects.length },
  }
  return {
    ...authority, ...bound, actions: [actionOf(wish)], revision: 0, state: 'prepared',
    reason: null, run_sha256: null, idempotency_key: key, request_sha256: requestDigest(request),
    preview_sha256: previewDigest(bound, plan.host), approval: null, task_id: null, attempt: 0,
    fence: null, reserved: false, contacted: 0, created: 0, remote: null, receipt_id: null,
    closed: null, created_at: now, updated_at: now,
  }
}

const write = (tx: Tx, now: string, job: Job, ref: ArtifactRef): Job => {
  registerArtifact(tx, now, {
    artifactId: job.plan.artifact_id, label: planLabel, ref, owner: job.owner, taskId: null,
    adopted: true,
  })
  appendEntry(tx, effectHistory, job.job_id, {
    type: 'plan', at: now, artifact_id: job.plan.artifact_id, sha256: job.plan.sha256,
    effects: job.plan.effects, authority_sha256: job.authority_sha256,
  })
  appendEntry(tx, artifactHistory, job.job_id, {
    at: now, artifact_id: job.plan.artifact_id, label: planLabel, sha256: ref.sha256,
    stored_sha256: ref.stored_sha256, bytes: ref.bytes,
  })
  appendAudit(tx, now, {
    what: 'codehost.prepared', principal: job.owner, root: job.root, subject: job.job_id,
    facts: { kind: job.native_kind, connection: job.connection_id, effects: job.plan.effects },
  })
  noteNamed(tx, job.root)
  return putJob(tx, now, job, {})
}

const draftOf = (gov: Gov, session: Session, request: FollowRequest, key: string): Draft => {
  const connection = requireOwnConnection(gov.store.read(), session, request.connectionId)
  const jobId = newId('job')
  const plan = followPlan({
    jobId, host: codehostBase(gov), repository: connection.repository, wish: request.wish,
    effectId: newId('eff'), idempotency: randomUUID(),
  })
  return { request, key, jobId, plan, ref: gov.store.artifacts.write(planLabel, planBytes(plan)) }
}

/**
 * Prepares an issue or a comment. The same key and request give the first job again. Throws
 * `rejected` (`host_text_invalid`, `idempotency_key`), `unauthorized` `codehost_write_denied` with
 * what is wrong with the consent, `codehost_too_short`, `not_found`, `conflict`.
 */
export const prepareFollowThrough = async (
  gov: Gov, session: Session, request: FollowRequest,
): Promise<Job> => {
  requireText(request.wish)
  const key = (request.idempotencyKey ?? randomUUID()).toLowerCase()
  const earlier = replayed(gov.store.read(), session, key, request)
  if (earlier !== null) return earlier
  const asked = { gov, sealedHost: codehostBase(gov) }
  const draft = draftOf(gov, session, request, key)
  let named = false
  try {
    return await gov.store.transact('codehost prepare', (tx) => {
      const now = isoFromMs(gov.clock.wallMs())
      const current = liveSession(tx, gov, session.root.root_id)
      const again = replayed(tx, current, key, request)
      if (again !== null) return again
      const job = jobOf(tx, current, now, draft)
      requirePrerequisites('followThrough', asked, tx, job)
      requireOutlives(gov, tx, job)
      named = true
      return write(tx, now, job, draft.ref)
    })
  } finally {
    if (!named) discardStored(gov.store, draft.ref.stored_sha256)
  }
}

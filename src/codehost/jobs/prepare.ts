/**
 * Preparing an issue or a comment: what will be sent is sealed, with the consent, session and
 * credential that it rests on. Nobody is contacted, no task is made, no connection occupied.
 */
import { randomUUID } from 'node:crypto'
import { digestOf } from '../../base/canonical.js'
import { newId } from '../../base/ids.js'
import { discardUnnamed } from '../../governance/artifacts.js'
import { newRequestKey } from '../../governance/board/lost-keys.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { liveSession } from '../../governance/session/live.js'
import type { ArtifactRef, View } from '../../state/types.js'
import { planLabel } from '../constants.js'
import { codehostBase } from '../context.js'
import { newMark, withMark } from '../plan/mark.js'
import { requireHostText } from '../plan/texts.js'
import { requirePrerequisites } from './boundary.js'
import { followThroughKind } from './kinds.js'
import { requireOutlives } from './outlive.js'
import { actionOf, followPlan, planBytes, type FollowPlan, type FollowWish } from './plan.js'
import { draftOf, plannedJob, replayed, writeJob, type JobWish } from './prepared.js'
import type { Job } from './job-rows.js'

/** What somebody wants to have written. */
interface FollowRequest {
  readonly connectionId: string
  readonly wish: FollowWish
  /** Whether a line with a nonce of the job goes behind its text. */
  readonly mark?: boolean | undefined
  /** Left out: the owner's default goal. */
  readonly goalId?: string | undefined
  /** Left out: a new one. */
  readonly idempotencyKey?: string | undefined
}

const requireText = (wish: FollowWish): void =>
  requireHostText(wish.what === 'issue'
    ? { title: wish.title, body: wish.body } : { body: wish.body })

const wishOf = (
  view: View, { connectionId, wish, mark = false, goalId, idempotencyKey }: FollowRequest,
): JobWish => ({
  ...(mark ? { mark: newMark() } : {}),
  kind: followThroughKind, jobId: newId('job'), connectionId, goalId, actions: [actionOf(wish)],
  request: {
    kind: followThroughKind, key: (idempotencyKey ?? newRequestKey(view)).toLowerCase(),
    digest: digestOf({
      kind: followThroughKind, connection: connectionId, wish, goal: goalId ?? null,
      // The nonce is no part of what was asked for.
      ...(mark ? { mark } : {}),
    }),
  },
})

interface Sealed {
  readonly plan: FollowPlan
  readonly ref: ArtifactRef
}

const sealPlan = (
  gov: Gov, session: Session, { jobId, connectionId }: JobWish, wish: FollowWish,
): Sealed => {
  const connection = requireOwnConnection(gov.store.read(), session, connectionId)
  const plan = followPlan({
    jobId, host: codehostBase(gov), repository: connection.repository, wish,
    effectId: newId('eff'), idempotency: randomUUID(),
  })
  return { plan, ref: gov.store.artifacts.write(planLabel, planBytes(plan)) }
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
  const wish = wishOf(gov.store.read(), request)
  const said = { ...request.wish, body: withMark(request.wish.body, wish.mark) }
  requireText(said)
  const earlier = replayed(gov.store.read(), session, wish.request)
  if (earlier !== null) return earlier
  const asked = { gov, sealedHost: codehostBase(gov) }
  const { plan, ref } = sealPlan(gov, session, wish, said)
  return discardUnnamed(gov.store, [ref.stored_sha256], (tried) =>
    gov.store.transact('codehost prepare', tried((named, tx) => {
      const now = nowIso(gov)
      const current = liveSession(tx, gov, session.root.root_id)
      const again = replayed(tx, current, wish.request)
      if (again !== null) return again
      const artifactId = newId('art')
      const job = plannedJob(draftOf(gov.store, tx, current, now, wish), plan.host, {
        input: said,
        plan: { artifact_id: artifactId, sha256: ref.sha256, effects: plan.effects.length },
      })
      requirePrerequisites('followThrough', asked, tx, job)
      requireOutlives(gov, tx, job)
      named()
      return writeJob(tx, now, job, [{ artifactId, label: planLabel, ref }])
    })))
}

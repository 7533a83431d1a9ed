/**
 * Standing authority: for a short while, and for so many jobs, it stands for the approval of
 * follow-through jobs. It hangs on one consent and ends with it (C-007).
 */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { appendAudit } from '../../governance/audit.js'
import { grantStateAt, requireOwnConnection } from '../../governance/connections/find-connection.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { liveSession } from '../../governance/session/live.js'
import { rowsUnder } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import { requireActions } from '../actions.js'
import { codehostLimits, type CodehostAction } from '../constants.js'
import { sealedApproval } from './digests.js'
import { followThroughKind } from './kinds.js'
import { standingByConnection, standingCollection, type Job, type Standing } from './job-rows.js'
import { mayStand } from './standing-rule.js'

/** What somebody wants to stand for approvals. */
interface StandingRequest {
  readonly connectionId: string
  readonly actions: readonly string[]
  /** ISO time at which it ends; never after an hour, the consent or the session. */
  readonly until: string
  readonly jobsMax: number
}

/** Actions of follow-through jobs; a publication is approved one by one. */
/** What a standing authority may allow. */
export const followActions: readonly CodehostAction[] = ['issue.create', 'comment.create']

const requireFollow = (given: readonly string[]): readonly CodehostAction[] => {
  const actions = requireActions(given)
  if (actions.every((action) => followActions.includes(action))) return actions
  throw fail.rejected('standing_action', 'Only issues and comments have a standing authority.', {
    next: `Name them: ${followActions.join(', ')}. A publication is approved by itself.`,
  })
}

const endOf = (request: StandingRequest, nowMs: number, consentEnds: string): string => {
  const untilMs = msFromIso(request.until)
  const most = Math.min(nowMs + codehostLimits.grantMsMax, msFromIso(consentEnds))
  if (Number.isFinite(untilMs) && untilMs > nowMs && untilMs <= most) return request.until
  throw fail.rejected('standing_until', 'It must end after now, and not after its consent.', {
    details: { latest: isoFromMs(most) },
  })
}

/**
 * Gives a standing authority on the consent that is issued now. Throws `rejected`
 * (`standing_action`, `standing_until`, `action_unknown`), `unauthorized`, `not_found`.
 */
export const giveStanding = (
  gov: Gov, session: Session, request: StandingRequest,
): Promise<Standing> => {
  const actions = requireFollow(request.actions)
  return gov.store.transact('codehost approve', (tx) => {
    const now = nowIso(gov)
    const current = liveSession(tx, gov, session.root.root_id)
    const connection = requireOwnConnection(tx, current, request.connectionId)
    const { consent } = connection
    const state = grantStateAt(gov, tx, connection, gov.store.stops.lying())
    const allowed = consent !== null && state === 'issued' && consent.root === current.root.root_id
      && actions.every((action) => consent.actions.includes(action))
    if (!allowed) {
      throw fail.unauthorized(
        'standing_without_consent', 'A standing authority rests on a consent that allows it.', {
          reason: `consent_${state ?? 'missing'}`,
          next: 'See `sallyport codehost connections`.',
        },
      )
    }
    const standing: Standing = {
      standing_id: newId('std'), connection_id: connection.connection_id,
      consent_id: consent.consent_id, owner: connection.owner, root: current.root.root_id,
      actions: [...actions], issued_at: now,
      expires_at: endOf(request, msFromIso(now), consent.expires_at),
      jobs_max: request.jobsMax, jobs: [],
    }
    tx.mark()
    tx.put(standingCollection, standing.standing_id, standing)
    appendAudit(tx, now, {
      what: 'codehost.standing_issued', principal: standing.owner, root: standing.root,
      subject: standing.standing_id, facts: {
        connection: standing.connection_id, consent: standing.consent_id,
        actions: standing.actions.join(' '), jobs_max: standing.jobs_max,
        expires_at: standing.expires_at,
      },
    })
    return standing
  })
}

/** Standing authorities of a connection, oldest first. */
export const standingsOf = (view: View, connectionId: string): readonly Standing[] =>
  rowsUnder(view, standingCollection, standingByConnection, { under: [connectionId] })
    .map(({ doc }) => doc)

/** The authority that may stand for the approval of a job; undefined where none does. */
const standingFor = (view: View, job: Job, nowMs: number): Standing | undefined =>
  job.native_kind !== followThroughKind
    ? undefined : standingsOf(view, job.connection_id).find((one) => mayStand(one, job, nowMs))

/** A job with what approves it, and the authority that does where none was given for it alone. */
interface Approved {
  readonly job: Job
  readonly standing: Standing | null
}

/**
 * The job with its own approval, or with that of a standing authority. Without either it comes back
 * as it is, and is refused for that.
 */
export const approvedJob = (view: View, now: string, job: Job): Approved => {
  const standing = job.approval === null ? standingFor(view, job, msFromIso(now)) : undefined
  if (standing === undefined) return { job, standing: null }
  return {
    standing,
    job: {
      ...job, approval: sealedApproval(job.job_id, {
        kind: 'standing', preview_sha256: job.preview_sha256, root: job.root,
        consent_id: job.consent.consent_id, consent_revision: job.consent.revision,
        standing_id: standing.standing_id, producer: null, at: now,
      }),
    },
  }
}

/** The same in the record that runs it: an authority counts each job once. */
export const takeApproval = (tx: Tx, now: string, job: Job): Job => {
  const { job: approved, standing } = approvedJob(tx, now, job)
  if (standing !== null && !standing.jobs.includes(job.job_id)) {
    tx.put(standingCollection, standing.standing_id, {
      ...standing, jobs: [...standing.jobs, job.job_id],
    })
  }
  return approved
}

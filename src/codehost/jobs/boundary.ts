/**
 * The one question that whatever writes to a code host answers, at every moment at which it could
 * be answered otherwise: when a job is prepared, previewed and approved, when it is taken on, at
 * the mark and at each of the three checks of each request, when the board admits its task or
 * adopts its result, and when a scheduled run picks it. Everything is read from rows of that
 * moment; nothing of a caller's, and no list, counts (C-011 to C-013, C-027).
 */
import type { Gov } from '../../governance/context.js'
import { msFromIso } from '../../base/clock.js'
import { findTask } from '../../governance/board/place.js'
import { grantStateAt } from '../../governance/connections/find-connection.js'
import {
  connectionCollection, type Connection,
} from '../../governance/connections/connection-rows.js'
import {
  denied, judge, ofRequest, orUndefined, underWay, within, type Denial, type Fact, type Phase,
} from '../../governance/judge/fact.js'
import { momentOf, type Moment } from '../../governance/judge/moment.js'
import { storeFacts } from '../../governance/judge/policy-facts.js'
import { collections } from '../../governance/rows.js'
import type { GrantState } from '../../governance/connections/grant.js'
import { vaultDigest } from '../../governance/vault.js'
import { rowsUnder } from '../../state/indexes.js'
import { ofRows } from '../../state/row-memo.js'
import type { View } from '../../state/types.js'
import { closedBy } from './closed/fence.js'
import { isWholeApproval } from './digests.js'
import { publicationKind, publicCapabilities } from './kinds.js'
import { holdsConnection } from './reserve.js'
import { closedByConsent, jobCollection, standingCollection, type Job } from './job-rows.js'
import { isCurrent } from './standing-rule.js'
import { endedHint } from './close-line.js'

/** Where the job is under way; null before it runs. */
interface UnderWay {
  readonly operationId: string
  /** Attempt and fence under which it was begun. */
  readonly attempt: number
  readonly fence: number
}

interface WriteCase {
  readonly moment: Moment
  readonly job: Job
  readonly connection: Connection | undefined
  /** How the consent of the connection stands; null where none was ever given. */
  readonly grant: GrantState | null
  readonly at: UnderWay | null
  /** Where the sealed profile has the host, and where the request goes. */
  readonly host: { readonly sealed: string; readonly asked: string }
}

interface ConnectedCase extends WriteCase { readonly connection: Connection }

const connectedPart = (one: WriteCase): ConnectedCase | null =>
  (one.connection === undefined ? null : { ...one, connection: one.connection })

/** From the beginning to the contact: what was made is read back and kept without a consent. */
const untilSent = ['admit', 'preflight', 'contact'] as const

const standingFacts = [
  {
    name: 'session_not_live', kind: 'unauthorized', phases: underWay,
    holds: ({ moment, job }) =>
      orUndefined(() => moment.liveRoot(job.root))?.principal_id === job.owner,
  },
  {
    name: 'goal_foreign', kind: 'unauthorized', phases: underWay,
    holds: ({ moment, job }) =>
      moment.view.get(collections.goals, job.goal_id)?.owner === job.owner,
  },
  {
    name: 'goal_changed', kind: 'unauthorized', phases: underWay,
    holds: ({ moment, job }) =>
      moment.view.get(collections.goals, job.goal_id)?.revision === job.goal_revision,
  },
  {
    name: 'goal_not_open', kind: 'unauthorized', phases: underWay,
    holds: ({ moment, job }) => moment.view.get(collections.goals, job.goal_id)?.state === 'open',
  },
  {
    name: 'capability_mismatch', kind: 'blocked', phases: underWay,
    holds: ({ job }) => publicCapabilities[job.native_kind] === job.capability,
  },
  {
    name: 'job_closed', kind: 'conflict', phases: underWay,
    holds: ({ moment, job }) => closedBy(moment.view, job) === null,
  },
  {
    name: 'fixed_route_mismatch', kind: 'blocked', phases: underWay,
    holds: ({ host }) => host.sealed === host.asked,
  },
  {
    name: 'connection_missing', kind: 'not_found', phases: underWay,
    holds: ({ connection, job }) => connection?.owner === job.owner,
  },
] as const satisfies readonly Fact<WriteCase>[]

const identityFacts = [
  {
    name: 'repository_mismatch', kind: 'unauthorized', phases: underWay,
    holds: ({ connection, job }) => connection.repository === job.repository
      && connection.repository_id === job.repository_id,
  },
  {
    name: 'credential_changed', kind: 'unauthorized', phases: underWay,
    holds: ({ connection, job, moment }) =>
      vaultDigest(moment.view, connection.credential_ref) === job.vault.sha256,
  },
] as const satisfies readonly Fact<ConnectedCase>[]

const state = <Name extends string>(name: Name, of: GrantState | null) => ({
  name, kind: 'unauthorized', phases: untilSent,
  holds: ({ grant }: ConnectedCase) => grant !== of,
} as const)

/** Whether a job was closed under this consent: what comes after it needs a fresh one (C-111). */
export const isOfClosedJob = (view: View, { consent }: Connection): boolean =>
  consent !== null && closesOne(view, consent.consent_id)

const closesOne = ofRows((view, consentId) => rowsUnder(view, jobCollection, closedByConsent, {
  under: [consentId], limit: 1,
}).length > 0)

const consentFacts = [
  state('consent_missing', null), state('consent_revoked', 'revoked'),
  state('consent_expired', 'expired'), state('consent_stopped', 'stopped'),
  {
    name: 'consent_replaced', kind: 'unauthorized', phases: untilSent,
    holds: ({ connection: { consent }, job }) => consent?.consent_id === job.consent.consent_id
      && consent.binding_sha256 === job.consent.binding_sha256,
  },
  {
    name: 'consent_before_closure', kind: 'unauthorized', phases: untilSent,
    holds: ({ connection, moment }) => !isOfClosedJob(moment.view, connection),
  },
  {
    name: 'consent_root_mismatch', kind: 'unauthorized', phases: untilSent,
    holds: ({ connection: { consent }, job }) =>
      consent?.root === job.root && consent.owner === job.owner,
  },
  {
    name: 'consent_repository_mismatch', kind: 'unauthorized', phases: untilSent,
    holds: ({ connection: { consent }, job }) => consent?.repository === job.repository
      && consent.repository_id === job.repository_id,
  },
  {
    name: 'stale_connection_revision', kind: 'unauthorized', phases: untilSent,
    holds: ({ connection, job }) => connection.revision === job.consent.revision
      && connection.consent?.revision === job.consent.revision,
  },
  {
    name: 'action_not_allowed', kind: 'unauthorized', phases: untilSent,
    holds: ({ connection: { consent }, job }) =>
      job.actions.every((action) => consent?.actions.includes(action) === true),
  },
] as const satisfies readonly Fact<ConnectedCase>[]

const approvalFacts = [
  {
    name: 'approval_missing', kind: 'unauthorized', phases: ofRequest,
    holds: ({ job }) => job.approval !== null,
  },
  {
    name: 'approval_of_other', kind: 'unauthorized', phases: ofRequest,
    holds: ({ job: { approval, job_id: id, preview_sha256: preview, root, consent } }) =>
      approval === null || (approval.preview_sha256 === preview && approval.root === root
        && approval.consent_id === consent.consent_id
        && approval.consent_revision === consent.revision && isWholeApproval(id, approval)),
  },
  {
    name: 'approval_without_producer', kind: 'unauthorized', phases: ofRequest,
    holds: ({ job: { approval, native_kind: kind } }) => approval === null
      || (kind === publicationKind) === (approval.producer !== null),
  },
  {
    name: 'standing_ended', kind: 'unauthorized', phases: ofRequest,
    holds: ({ job, moment }) => {
      const id = job.approval?.standing_id ?? null
      return id === null
        || isCurrent(moment.view.get(standingCollection, id), job, moment.nowMs)
    },
  },
] as const satisfies readonly Fact<WriteCase>[]

const taskOf = ({ moment, job }: WriteCase) =>
  (job.task_id === null ? undefined : findTask(moment.view, job.task_id))

const runFacts = [
  {
    name: 'job_not_running', kind: 'conflict', phases: ['contact'],
    holds: ({ job, at }) => job.state === 'running' && job.attempt === at?.attempt,
  },
  {
    name: 'reservation_lost', kind: 'conflict', phases: ['contact'],
    holds: ({ connection, job, at }) =>
      job.reserved && job.fence === at?.fence && holdsConnection(connection, job),
  },
  {
    name: 'task_not_running', kind: 'conflict', phases: ['contact'],
    holds: (one) => taskOf(one)?.state === 'running',
  },
  {
    name: 'cancel_requested', kind: 'unauthorized', phases: ['contact'],
    holds: (one) => (taskOf(one)?.cancel_requested_at ?? null) === null,
  },
  {
    name: 'lease_lost', kind: 'conflict', phases: ['contact'],
    holds: (one) => taskOf(one)?.lease?.holder === one.at?.operationId,
  },
  {
    name: 'deadline_passed', kind: 'locked', phases: ['contact'],
    holds: (one) => msFromIso(taskOf(one)?.deadline_at ?? '') > one.moment.nowMs,
  },
] as const satisfies readonly Fact<WriteCase>[]

/** The one list, in the order in which refusals are told. */
const writeFacts = [
  ...within(({ moment: { policy: { block } } }: WriteCase) => ({ block }), storeFacts),
  ...standingFacts,
  ...within(connectedPart, identityFacts),
  ...within(connectedPart, consentFacts),
  ...approvalFacts,
  ...runFacts,
] as const

/** Names of everything that can be told. */
export type WriteDenial = (typeof writeFacts)[number]['name']

/** What the question is asked with. */
export interface Asked {
  readonly gov: Gov
  /** Where the host is, as the sealed profile says it now. */
  readonly sealedHost: string
  /** Where the request goes; left out: nowhere yet. */
  readonly askedHost?: string
  readonly at?: UnderWay | null
}

/** What stands against a job at a phase, as of one view. */
export const writeDenials = (
  { gov, sealedHost, askedHost = sealedHost, at = null }: Asked, view: View, job: Job,
  phase: Phase,
): readonly Denial[] => {
  const connection = view.get(connectionCollection, job.connection_id)
  const grant = connection === undefined
    ? null : grantStateAt(gov, view, connection, gov.store.stops.lying())
  const moment = momentOf(gov, view)
  return judge(writeFacts, {
    moment, job, connection, grant, at, host: { sealed: sealedHost, asked: askedHost },
  }, phase)
}

const consentAnew = 'A new consent takes over no job: consent anew, then prepare it again. See: '
  + '`sallyport codehost connections`'

/** Throws what stands against a job, the first reason foremost. */
export const requireWrite = (asked: Asked, view: View, job: Job, phase: Phase): void => {
  const denials = writeDenials(asked, view, job, phase)
  if (denials.length === 0) return
  const isApproval = denials[0]?.name === 'approval_missing'
  throw denied(denials, {
    code: 'codehost_write_denied', message: 'What this write rests on does not stand.',
    details: { connection_id: job.connection_id },
    next: isApproval
      ? `Look at it first: \`sallyport codehost preview ${job.job_id}\`.`
      : endedHint(asked.gov, view, job, consentAnew),
  })
}

/**
 * Who asks for the prerequisites of a write; there is no fifth. All four are answered by
 * `requireWrite` and nothing else (C-027).
 */
const prerequisitePhases = {
  /** Preparing, previewing, approving. */
  followThrough: 'admit',
  /** `run` and `resume`. */
  dispatcher: 'preflight',
  /** Admission of the task that a run makes. */
  workBoard: 'preflight',
  /** What a scheduled run picks. */
  routine: 'preflight',
} as const satisfies Readonly<Record<string, Phase>>

/** The prerequisites of a job, asked for by one of the four. */
export const requirePrerequisites = (
  path: keyof typeof prerequisitePhases, asked: Asked, view: View, job: Job,
): void => requireWrite(asked, view, job, prerequisitePhases[path])

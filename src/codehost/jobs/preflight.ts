/**
 * What is read of the host before a job occupies its connection: whether the repository is still
 * the one that was consented to and takes writes, whether what is commented on is there, and how
 * many requests the token has left. Nothing is reserved or written by it.
 */
import type { Clock } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Sent, Unsent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/read.js'
import { nowIso } from '../../governance/context.js'
import type { Session } from '../../governance/session/types.js'
import type { HttpsReply } from '../../net/types.js'
import { hostAhead, type HostAhead } from '../adapter/host-time.js'
import { errorOf, refusedError } from '../adapter/look.js'
import { readOrder, type Get } from '../adapter/reads.js'
import {
  judgeRepositoryReply, refusalOf, type HostRepository, type RepositoryVerdict,
} from '../adapter/repository-reply.js'
import { codehostLimits } from '../constants.js'
import { codehostBase, type CodehostContext } from '../context.js'
import { hostPath, repositoryOf, type RepositoryName } from '../repository.js'
import { requirePrerequisites } from './boundary.js'
import { getJob } from './change.js'
import type { FollowPlan } from './plan.js'
import type { Job } from './rows.js'
import { connectAnew } from './connect-anew.js'
import { approvedJob } from './standing.js'

/** The repository as a look shows it. */
export interface RepositoryLook {
  readonly verdict: RepositoryVerdict
  /** Requests that the token has left; null where the host does not say. */
  readonly left: number | null
  /** How far its clock is ahead; null where it does not say. */
  readonly ahead: HostAhead | null
}

interface IssueLook {
  readonly status: number
  readonly there: boolean
}

interface Looks {
  readonly repository: Sent<RepositoryLook>
  readonly issue: Sent<IssueLook> | null
}

const leftOf = ({ headers }: HttpsReply): number | null => {
  const told = headers.get('x-ratelimit-remaining')?.at(-1) ?? ''
  return /^\d{1,9}$/.test(told) ? Number(told) : null
}

/** The first look of a run. */
export const lookAtRepository = (
  clock: Pick<Clock, 'wallMs'>, name: RepositoryName, get: Get,
): Promise<Sent<RepositoryLook>> => {
  const askedMs = clock.wallMs()
  return get(hostPath.repository(name), (reply) => ({
    verdict: judgeRepositoryReply(reply), left: leftOf(reply),
    ahead: hostAhead(reply, askedMs, clock.wallMs()),
  }))
}

/** How far the host's clock is ahead, as a look told it. */
export const aheadOf = (look: Sent<RepositoryLook>): HostAhead | null =>
  (look.kind === 'reply' ? look.verdict.ahead : null)

const judgeIssue = (reply: HttpsReply): IssueLook =>
  ({ status: reply.status, there: refusalOf(reply) === null })

const read = async (
  clock: Pick<Clock, 'wallMs'>, plan: FollowPlan, get: Get,
): Promise<Looks> => {
  const name = repositoryOf(plan.repository)
  const repository = await lookAtRepository(clock, name, get)
  if (plan.issue === null || repository.kind !== 'reply') return { repository, issue: null }
  return { repository, issue: await get(hostPath.issue(name, plan.issue), judgeIssue) }
}

/** Throws `blocked` where the host has something else than was consented to, or takes no writes. */
export const requireRepository = (
  job: Pick<Job, 'repository' | 'repository_id'>, seen: HostRepository, needsIssues: boolean,
): void => {
  if (seen.id !== job.repository_id || seen.fullName !== job.repository) {
    throw fail.blocked(
      'repository_replaced', 'Another repository has taken the place of the one of this job.', {
        next: `Look what is there, and save it anew: \`${connectAnew(job)}\`.`,
      },
    )
  }
  if (seen.archived) {
    throw fail.blocked('repository_archived', 'The repository is archived: it takes no writes.')
  }
  if (!needsIssues || seen.hasIssues) return
  throw fail.blocked('issues_disabled', 'The repository has no issues.', {
    next: 'Somebody who may change its settings on the host can switch them on.',
  })
}

/**
 * Throws `blocked` `push_not_allowed` where the host says that the token's account may not push: of
 * objects and branches it would refuse the first. An issue or a comment needs no more than to read.
 */
export const requirePush = (
  job: Pick<Job, 'repository'>, { mayPush }: Pick<HostRepository, 'mayPush'>,
): void => {
  if (mayPush !== false) return
  throw fail.blocked(
    'push_not_allowed', 'The account of this token may not push to the repository.', {
      next: 'Let it be given the right on the host, or use a connection with another token: '
        + `\`${connectAnew(job)}\`.`,
    },
  )
}

/** Throws `remote` `codehost_rate_limited` where the token has fewer requests left. */
export const requireLeft = (left: number | null, needed: number): void => {
  if (left === null || left >= needed) return
  throw fail.remote('codehost_rate_limited', 'The token has too few requests left for this job.', {
    next: 'Try again later; nothing was changed.', details: { left, needed },
  })
}

/** Throws what is wrong with the repository; answers it, and how many requests are left. */
export const requireRepositoryLook = (
  job: Job, look: Sent<RepositoryLook>, needsIssues: boolean,
): { readonly repository: HostRepository, readonly left: number | null } => {
  if (look.kind !== 'reply') throw errorOf(look)
  const { verdict, left } = look.verdict
  if (verdict.kind === 'refused') throw refusedError(verdict)
  requireRepository(job, verdict.repository, needsIssues)
  return { repository: verdict.repository, left }
}

const requireLooks = (job: Job, plan: FollowPlan, { repository, issue }: Looks): void => {
  const { left } = requireRepositoryLook(job, repository, plan.issue === null)
  // Each effect and its readback.
  requireLeft(left, 2 * plan.effects.length)
  if (issue === null) return
  if (issue.kind !== 'reply') throw errorOf(issue)
  if (issue.verdict.there) return
  throw fail.remote('issue_not_seen', 'The code host shows nothing to comment on at that number.', {
    next: 'Check the number, and what the token may see.',
    details: { status: issue.verdict.status },
  })
}

/** A job that is looked up before it is run. */
interface LookedFor<L> {
  readonly session: Session
  readonly job: Job
  readonly path: 'dispatcher' | 'routine'
  readonly look: (get: Get) => Promise<L>
  /** What it comes to where nobody was asked. */
  readonly unsent: (why: Unsent) => L
}

/**
 * Looks in an operation of its own; every boundary of each GET asks for all that the job rests on.
 * Nothing is written anywhere.
 */
export const lookBefore = <L>(
  ctx: CodehostContext, { session, job, path, look, unsent }: LookedFor<L>,
): Promise<L> => {
  const connection = requireOwnConnection(ctx.gov.store.read(), session, job.connection_id)
  const asked = { gov: ctx.gov, sealedHost: codehostBase(ctx.gov), askedHost: ctx.baseUrl }
  return runOrder(ctx, readOrder<L, L>(ctx, session, connection, {
    step: 'preflight', verb: 'codehost run', noun: 'run',
    operationMsMax: codehostLimits.lookMsMax, connectionId: job.connection_id,
    path: hostPath.repository(repositoryOf(job.repository)),
    requires: (view) => requirePrerequisites(
      path, asked, view, approvedJob(view, nowIso(ctx.gov), getJob(view, job.job_id)).job,
    ),
    read: look,
    unsent,
    close: (_tx, _now, _run, { evidence }) => ({ kept: evidence, outcome: 'read', adopts: false }),
  }))
}

/**
 * Reads and checks for an issue or a comment; answers how far the host's clock is ahead. Throws
 * what is wrong, with nothing written.
 */
export const preflight = async (
  ctx: CodehostContext, session: Session, job: Job, plan: FollowPlan,
  path: 'dispatcher' | 'routine',
): Promise<HostAhead | null> => {
  const looks = await lookBefore<Looks>(ctx, {
    session, job, path, look: (get) => read(ctx.gov.clock, plan, get),
    unsent: (why) => ({ repository: why, issue: null }),
  })
  requireLooks(job, plan, looks)
  return aheadOf(looks.repository)
}

/**
 * What is read of the host before a job occupies its connection: whether the repository is still
 * the one that was consented to and takes writes, how many requests the token has left, and what
 * its kind looks at besides. Nothing is reserved or written by it.
 */
import type { Clock } from '../../base/clock.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Sent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import { nowIso } from '../../governance/context.js'
import type { HttpsReply } from '../../net/types.js'
import { hostAhead, type HostAhead } from '../adapter/host-time.js'
import { errorOf, refusedError, remedyOf } from '../adapter/look.js'
import { readOrder, type Get } from '../adapter/reads.js'
import {
  judgeRepositoryReply, type HostRepository, type Refused, type RepositoryVerdict,
} from '../adapter/repository-reply.js'
import { codehostLimits } from '../constants.js'
import type { CodehostContext } from '../context.js'
import { hostPath, repositoryOf, type RepositoryName } from '../repository.js'
import { requirePrerequisites } from './boundary.js'
import { getJob } from './change.js'
import { askedOf, type RunnableJob } from './claim.js'
import { connectAnew } from './connect-anew.js'
import type { Job } from './job-rows.js'
import { approvedJob } from './standing.js'
import type { Work } from './work.js'

/** The repository as a look shows it. */
interface RepositoryLook {
  readonly verdict: RepositoryVerdict
  /** Requests that the token has left; null where the host does not say. */
  readonly left: number | null
  /** How far its clock is ahead; null where it does not say. */
  readonly ahead: HostAhead | null
}

/** The error of a read that the host refused, for the connection of a job as it stands now. */
export type Refusal = (refused: Refused) => SallyportError

/** What a kind of job looks at besides the repository, and what it needs of both. */
export interface Looking<L> {
  readonly needs: { readonly issues?: boolean, readonly push?: boolean }
  /** Asked where the repository gave a reply. */
  look(get: Get): Promise<L>
  /** Throws what is not as the job needs it; `refusal`: the error of a read that was refused. */
  requires(looked: L, refusal: Refusal): void
}

/** What was looked at; where the repository gave no reply, that alone. */
type Looks<L> =
  | Exclude<Sent<never>, { readonly kind: 'reply' }>
  | { readonly kind: 'looked'; readonly repository: RepositoryLook; readonly besides: L }

const leftOf = ({ headers }: HttpsReply): number | null => {
  const told = headers.get('x-ratelimit-remaining')?.at(-1) ?? ''
  return /^\d{1,9}$/.test(told) ? Number(told) : null
}

const lookAt = async <L>(
  clock: Pick<Clock, 'wallMs'>, name: RepositoryName, { look }: Looking<L>, get: Get,
): Promise<Looks<L>> => {
  const askedMs = clock.wallMs()
  const wire = await get(hostPath.repository(name), (reply): RepositoryLook => ({
    verdict: judgeRepositoryReply(reply), left: leftOf(reply),
    ahead: hostAhead(reply, askedMs, clock.wallMs()),
  }))
  if (wire.kind !== 'reply') return wire
  return { kind: 'looked', repository: wire.verdict, besides: await look(get) }
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
const requireLeft = (left: number | null, needed: number): void => {
  if (left === null || left >= needed) return
  throw fail.remote('codehost_rate_limited', 'The token has too few requests left for this job.', {
    next: 'Try again later; nothing was changed.', details: { left, needed },
  })
}

/**
 * Looks in an operation of its own; every boundary of each GET asks for all that the job rests on.
 * Nothing is written anywhere.
 */
const lookBefore = <L>(
  ctx: CodehostContext, { session, job, path }: RunnableJob, repository: string,
  looking: Looking<L>,
): Promise<Looks<L>> => {
  const connection = requireOwnConnection(ctx.gov.store.read(), session, job.connection_id)
  const asked = askedOf(ctx)
  return runOrder(ctx, readOrder<Looks<L>, Looks<L>>(ctx, session, connection, {
    step: 'preflight', verb: 'codehost run', noun: 'run',
    operationMsMax: codehostLimits.lookMsMax, connectionId: job.connection_id,
    path: hostPath.repository(repositoryOf(job.repository)),
    requires: (view) => requirePrerequisites(
      path, asked, view, approvedJob(view, nowIso(ctx.gov), getJob(view, job.job_id)).job,
    ),
    read: (get) => lookAt(ctx.gov.clock, repositoryOf(repository), looking, get),
    unsent: (why) => why,
    close: (_tx, _now, _run, { evidence }) => ({ kept: evidence, outcome: 'read', adopts: false }),
  }))
}

/**
 * Reads and checks before a run; answers how far the host's clock is ahead, null where it did not
 * say. Throws what is wrong, with nothing written.
 */
export const preflight = async <L>(
  ctx: CodehostContext, runnable: RunnableJob, work: Pick<Work, 'repository' | 'proving'>,
  looking: Looking<L>,
): Promise<HostAhead | null> => {
  const looks = await lookBefore(ctx, runnable, work.repository, looking)
  if (looks.kind !== 'looked') throw errorOf(looks)
  const { session, job } = runnable
  const refusal: Refusal = (refused) => refusedError(
    refused, remedyOf(requireOwnConnection(ctx.gov.store.read(), session, job.connection_id)))
  const { verdict, left, ahead } = looks.repository
  if (verdict.kind === 'refused') throw refusal(verdict)
  requireRepository(job, verdict.repository, looking.needs.issues === true)
  if (looking.needs.push === true) requirePush(job, verdict.repository)
  // What is still sent, and the reads that prove it behind its POSTs.
  requireLeft(left, job.plan.effects - job.created + work.proving.length)
  looking.requires(looks.besides, refusal)
  return ahead
}

/** Opens the sealed plan of a job by its kind. */
import { fail } from '../../base/errors.js'
import type { Sent } from '../../contact/order.js'
import type { Gov } from '../../governance/context.js'
import type { HttpsReply } from '../../net/types.js'
import type { View } from '../../state/types.js'
import { errorOf } from '../adapter/look.js'
import { judgeCreation } from '../adapter/post-reply.js'
import { readbackOf } from '../adapter/readback.js'
import { refusalOf } from '../adapter/repository-reply.js'
import { codehostLimits } from '../constants.js'
import { hostPath, repositoryOf } from '../repository.js'
import { followThroughKind, publicationKind, type NativeKind } from './kinds.js'
import { openPlan, type FollowPlan, type PlannedEffect } from './plan.js'
import { preflight, type Looking } from './preflight.js'
import { publicationWork } from './publication/work.js'
import type { Job } from './job-rows.js'
import type { Work, WorkPost } from './work.js'

const postOf = (plan: FollowPlan, { body, ...effect }: PlannedEffect): WorkPost => ({
  ...effect, id: null, replyBytesMax: codehostLimits.smallReplyBytesMax,
  body: async () => Buffer.from(body),
  judge: (of) => judgeCreation(plan, effect, of),
  readback: (remoteId, of) => {
    if (remoteId === null) throw new TypeError('an issue or comment has a number of the host')
    return readbackOf(plan, effect, remoteId, of)
  },
})

interface IssueLook {
  readonly status: number
  readonly there: boolean
}

const judgeIssue = (reply: HttpsReply): IssueLook =>
  ({ status: reply.status, there: refusalOf(reply) === null })

const requireIssue = (issue: Sent<IssueLook> | null): void => {
  if (issue === null) return
  if (issue.kind !== 'reply') throw errorOf(issue)
  if (issue.verdict.there) return
  throw fail.remote('issue_not_seen', 'The code host shows nothing to comment on at that number.', {
    next: 'Check the number, and what the token may see.',
    details: { status: issue.verdict.status },
  })
}

/** What is commented on must be there; what is opened needs a repository with issues. */
const lookingOf = ({ repository, issue }: FollowPlan): Looking<Sent<IssueLook> | null> => ({
  needs: { issues: issue === null },
  look: async (get) => (issue === null
    ? null : get(hostPath.issue(repositoryOf(repository), issue), judgeIssue)),
  requires: requireIssue,
})

/** Opens the plan of one. Throws what `openPlan` throws. */
const followWork = (gov: Gov, view: View, job: Job): Work => {
  const plan = openPlan(gov, view, job)
  const posts = plan.effects.map((effect) => postOf(plan, effect))
  const work = { repository: plan.repository, posts, proving: posts }
  return {
    ...work,
    toRun: () => ({
      operationMsMax: codehostLimits.followThroughMsMax,
      look: (ctx, runnable) => preflight(ctx, runnable, work, lookingOf(plan)),
    }),
    ended: () => undefined,
    close: () => undefined,
  }
}

const openers: Readonly<Record<NativeKind, (gov: Gov, view: View, job: Job) => Work>> = {
  [followThroughKind]: followWork, [publicationKind]: publicationWork,
}

/**
 * Opens it; close it when done. Throws `damaged` `plan_altered`, and `not_found` or `blocked` where
 * a sealed file is missing: nothing is sent or settled without it.
 */
export const openWork = (gov: Gov, view: View, job: Job): Work =>
  openers[job.native_kind](gov, view, job)

/** A publication, as the one pipeline of jobs runs it and reads it back. */
import type { Gov } from '../../../governance/context.js'
import type { View } from '../../../state/types.js'
import {
  judgePublished, postReplyMax, publishedReadback, type Published,
} from '../../adapter/published.js'
import { codehostLimits } from '../../constants.js'
import { repositoryOf } from '../../repository.js'
import type { EffectLedger } from '../effects.js'
import { effectProvenance, ledgerOf } from '../ledger.js'
import { preflight } from '../preflight.js'
import { approvedOtherwise, nextRunProblem, openBinding, requireBoundAs } from './bind.js'
import { openPublication, type OpenPublication, type RegisteredPost } from './open.js'
import type { Job } from '../job-rows.js'
import type { Work, WorkPost, WorkToRun } from '../work.js'
import { publicationLooking } from './preflight.js'
import { produce } from './produce.js'
import { requireRunHere } from './stage-machine.js'
import { dropStage } from './stages.js'

type Told = Omit<Published, 'pull'>

const toldOf = (
  { repository, base, branch, title, body, draft, commit }: OpenPublication,
  { repository_id: repositoryId }: Pick<Job, 'repository_id'>,
): Told => ({
  repository: repositoryOf(repository), repositoryId, base, branch, title, body, draft, commit,
})

/** What the host's words are compared with, and its ledger says of when it was sent. */
export const publishedOf = (
  publication: OpenPublication, job: Pick<Job, 'repository_id' | 'author' | 'mark'>,
  ledger: Pick<EffectLedger, 'effects'>,
): Published => ({
  ...toldOf(publication, job), pull: effectProvenance(job, ledger, publication.posts.length),
})

const postOf = (publication: OpenPublication, told: Told, post: RegisteredPost): WorkPost => ({
  number: post.number, effect_id: post.effect_id, action: post.action, path: post.path,
  body_sha256: post.body_sha256, idempotency: post.idempotency, id: post.id,
  replyBytesMax: postReplyMax(post),
  body: () => publication.bodyOf(post),
  judge: (pull) => judgePublished({ ...told, pull }, post),
  readback: (remoteId, pull) => publishedReadback({ ...told, pull }, post, remoteId),
})

/** The effects whose readback proves all of it; the pull request first: it is the job's number. */
const provingOf = ({ posts }: OpenPublication, all: readonly WorkPost[]): readonly WorkPost[] =>
  (['pull_request', 'ref', 'commit', 'growth'] as const).map((kind) => {
    const found = all[posts.findLastIndex((post) => post.kind === kind)]
    if (found === undefined) throw new TypeError('a publication has one of each')
    return found
  })

/** What the producer is, or is given, is what was approved, and for this very run. */
const requireBound = (gov: Gov, job: Job, publication: OpenPublication): void => {
  const view = gov.store.read()
  if (ledgerOf(view, job.job_id).producer !== null) return
  const reason = nextRunProblem(gov, view, job, publication)
  if (reason !== null) throw approvedOtherwise(job, reason)
}

const toRunOf = (
  gov: Gov, job: Job, publication: OpenPublication, work: Pick<Work, 'repository' | 'proving'>,
): WorkToRun => {
  const binding = openBinding(gov, gov.store.read(), job)
  requireBound(gov, job, publication)
  return {
    operationMsMax: codehostLimits.jobMsMax,
    look: (ctx, runnable) =>
      preflight(ctx, runnable, work, publicationLooking(gov, job, publication)),
    begun: (tx, row, as) => {
      requireRunHere(gov.store, tx, row)
      requireBoundAs(tx, row, binding, as)
    },
    produce: (ctx, run) => produce(ctx, run, { publication, binding }),
  }
}

/** Opens the plan of one. Throws what `openPublication` throws. */
export const publicationWork = (gov: Gov, view: View, job: Job): Work => {
  const publication = openPublication(gov, view, job)
  const told = toldOf(publication, job)
  const posts = publication.posts.map((post) => postOf(publication, told, post))
  const work = { repository: publication.repository, posts, proving: provingOf(publication, posts) }
  return {
    ...work,
    toRun: () => toRunOf(gov, job, publication, work),
    ended: (row) => dropStage(gov, row),
    close: () => publication.close(),
  }
}

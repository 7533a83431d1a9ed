/**
 * What is read of the host before a publication occupies its connection, besides the repository:
 * the branch that it starts from, and that its own branch is not there.
 */
import { fail } from '../../../base/errors.js'
import type { Gov } from '../../../governance/context.js'
import type { Sent } from '../../../contact/order.js'
import type { HttpsReply } from '../../../net/types.js'
import { errorOf } from '../../adapter/look.js'
import type { Get } from '../../adapter/reads.js'
import { refusalOf, refusedAs, type Refused } from '../../adapter/repository-reply.js'
import { orUndefined } from '../../../governance/judge/fact.js'
import { branchRefPrefix } from '../../git/branch-name.js'
import type { ObjectId } from '../../git/object-id.js'
import { readReply } from '../../replies/parse-reply.js'
import { hostPath, repositoryOf } from '../../repository.js'
import type { Looking, Refusal } from '../preflight.js'
import { closeHint } from '../close-line.js'
import type { OpenPublication } from './open.js'
import type { Job } from '../job-rows.js'

/** A branch as the host tells it: what it points at, that it is not there, or nothing. */
type BranchLook =
  | { readonly kind: 'at'; readonly commit: ObjectId }
  | { readonly kind: 'absent' }
  | Refused

interface Branches {
  readonly base: Sent<BranchLook>
  /** Null where the base gave no reply. */
  readonly branch: Sent<BranchLook> | null
}

const judgeBranch = (name: string) => (reply: HttpsReply): BranchLook => {
  if (reply.status === 404) return { kind: 'absent' }
  const code = refusalOf(reply)
  if (code !== null) return refusedAs(code, reply)
  const told = orUndefined(() => readReply('ref', reply.body))
  const own = told?.ref === branchRefPrefix + name && told.object.type === 'commit'
  return own ? { kind: 'at', commit: told.object.sha }
    : refusedAs('codehost_reply', reply)
}

/** Reads both, one after the other. */
const readBranches = async (
  { repository, base: { branch: from }, branch }: OpenPublication, get: Get,
): Promise<Branches> => {
  const name = repositoryOf(repository)
  const look = (one: string) => get(hostPath.branch(name, one), judgeBranch(one))
  const base = await look(from)
  return { base, branch: base.kind === 'reply' ? await look(branch) : null }
}

const branchOf = (
  wire: Sent<BranchLook> | null, refusal: Refusal,
): Exclude<BranchLook, { kind: 'refused' }> => {
  if (wire?.kind !== 'reply') throw errorOf(wire ?? { kind: 'sent', reason: 'not_read' })
  if (wire.verdict.kind === 'refused') throw refusal(wire.verdict)
  return wire.verdict
}

/** Of a job that occupies its connection nothing is prepared anew before that is free. */
const anewOr = (gov: Gov, job: Job, anew: string): string =>
  (job.reserved ? closeHint(gov, gov.store.read(), job) : anew)

/**
 * What was previewed is what changes on the approved base: where the branch has gone on, and
 * nothing was sent yet, the publication is prepared anew.
 */
const requireBase = (
  gov: Gov, job: Job, publication: OpenPublication, look: Sent<BranchLook>, refusal: Refusal,
): void => {
  const base = branchOf(look, refusal)
  if (base.kind === 'absent') {
    throw fail.remote(
      'base_branch_missing', 'The code host shows no branch of that name to start from.', {
        next: 'Check the base branch on the host, and what the token may see.',
      },
    )
  }
  if (job.contacted > 0 || base.commit === publication.base.commit) return
  throw fail.blocked(
    'base_moved', 'The branch that this starts from has gone on since it was approved.', {
      next: anewOr(gov, job, 'End this one, then prepare it anew under another key: '
        + `\`sallyport codehost cancel ${job.job_id}\`.`),
      details: { job_id: job.job_id },
    },
  )
}

/** A branch of that name is there before this job has sent it. */
const requireFreeBranch = (
  gov: Gov, job: Job, { posts, commit }: OpenPublication, look: Sent<BranchLook> | null,
  refusal: Refusal,
): void => {
  const branch = branchOf(look, refusal)
  const number = posts.find(({ kind }) => kind === 'ref')?.number ?? 0
  const isMade = job.created >= number
  if (isMade ? branch.kind === 'at' && branch.commit === commit : branch.kind === 'absent') return
  throw fail.blocked(
    isMade ? 'branch_differs' : 'branch_exists', isMade
      ? 'The branch of this job is not where it was put.'
      : 'The repository has a branch of that name: a publication makes a new one.', {
      reason: isMade ? 'branch_differs' : 'branch_exists',
      next: isMade ? 'Look on the host what became of it.'
        : anewOr(gov, job, 'Prepare it anew with another name for the branch.'),
      details: { job_id: job.job_id },
    },
  )
}

/** What a publication looks at and needs before it is run. */
export const publicationLooking = (
  gov: Gov, job: Job, publication: OpenPublication,
): Looking<Branches> => ({
  needs: { push: true },
  look: (get) => readBranches(publication, get),
  requires: ({ base, branch }, refusal) => {
    requireBase(gov, job, publication, base, refusal)
    requireFreeBranch(gov, job, publication, branch, refusal)
  },
})

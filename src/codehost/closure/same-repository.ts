/** The first read of every closure: the repository under its name is still the one of the job. */
import { judgeRepositoryReply } from '../adapter/repository-reply.js'
import type { Job } from '../jobs/job-rows.js'
import { hostPath, repositoryOf } from '../repository.js'
import { closureBlocked } from './blockers.js'
import type { ClosureGet } from './get.js'
import { blockerOf } from './readback.js'

/** Throws `blocked` `closure_blocked` where it is not, or nobody can tell. */
export const requireSameRepository = async (get: ClosureGet, job: Job): Promise<void> => {
  const seen = await get(hostPath.repository(repositoryOf(job.repository)), judgeRepositoryReply)
  if (seen.kind === 'refused') {
    throw closureBlocked(blockerOf[seen.code], job.job_id, undefined, seen.back)
  }
  const { id, fullName } = seen.repository
  if (id === job.repository_id && fullName === job.repository) return
  throw closureBlocked('repository_replaced', job.job_id)
}

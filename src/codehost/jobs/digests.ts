/** What the digests of a job are over. */
import { digestOf } from '../../base/canonical.js'
import type { Approval, Job } from './job-rows.js'

type Authority = Pick<Job,
  'owner' | 'root' | 'goal_id' | 'goal_revision' | 'connection_id' | 'repository'
  | 'repository_id' | 'consent' | 'vault' | 'native_kind' | 'capability' | 'actions' | 'author'
  | 'mark'>

/** Everything that a job's authority was when it was prepared. */
export const authorityDigest = (job: Authority): string => {
  const { owner, root, goal_id, goal_revision, connection_id, repository, repository_id } = job
  const { consent, vault, native_kind, capability, actions, author, mark } = job
  return digestOf({
    owner, root, goal_id, goal_revision, connection_id, repository, repository_id, consent, vault,
    native_kind, capability, actions, ...(author === undefined ? {} : { author }),
    ...(mark === undefined ? {} : { mark }),
  })
}

/** Whether a job rests on the values that it was prepared with, its binding among them (C-106). */
export const isWholeAuthority = (job: Authority & Pick<Job, 'authority_sha256'>): boolean =>
  authorityDigest(job) === job.authority_sha256

/** What an approval names: the job, what it rests on, and every byte that it will send. */
export const previewDigest = (
  job: Pick<Job, 'job_id' | 'authority_sha256' | 'input_sha256' | 'plan'>, host: string,
): string => digestOf({
  preview: 'codehost.preview.v1', job_id: job.job_id, authority_sha256: job.authority_sha256,
  input_sha256: job.input_sha256, plan_sha256: job.plan.sha256, effects: job.plan.effects, host,
})

/** An approval with its digest, which names the job and all that it is bound to. */
export const sealedApproval = (jobId: string, approval: Omit<Approval, 'sha256'>): Approval => ({
  ...approval, sha256: digestOf({ approval: 'codehost.approval.v1', job_id: jobId, ...approval }),
})

/** Whether an approval is what its digest says. */
export const isWholeApproval = (jobId: string, { sha256, ...approval }: Approval): boolean =>
  sealedApproval(jobId, approval).sha256 === sha256

export const runDigest = (job: Job, run: {
  readonly attempt: number
  readonly operationId: string
  readonly fence: number
}): string => digestOf({
  job_id: job.job_id, authority_sha256: job.authority_sha256, input_sha256: job.input_sha256,
  plan_sha256: job.plan.sha256, preview_sha256: job.preview_sha256,
  approval_sha256: job.approval?.sha256 ?? null, attempt: run.attempt,
  operation_id: run.operationId, fence: run.fence,
})

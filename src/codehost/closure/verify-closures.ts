/** What must hold of closures, their jobs and their checkpoints, for `state check`. Pure. */
import { canonicalJson, digestOf, sha256Hex } from '../../base/canonical.js'
import { SallyportError } from '../../base/errors.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import type { Problem } from '../../governance/context.js'
import { collections } from '../../governance/rows.js'
import { findEach } from '../../state/each.js'
import type { View } from '../../state/types.js'
import { checkpointHistory, jobEntries } from '../jobs/histories.js'
import { jobCollection, type Job } from '../jobs/job-rows.js'
import { closureCollection, type Closure } from '../jobs/closed/closed-job-rows.js'

const texts = {
  codehost_closure_id: 'A closure lies under another id than its own.',
  codehost_closure_request: 'A closure does not hold the request that its digest and key are of.',
  codehost_closure_job: 'A closure and its job contradict each other.',
  codehost_closure_checkpoint: 'A closure is not the one that its checkpoint tells of.',
  codehost_closure_account: 'The sealed account of a closure is not registered.',
} as const
type Code = keyof typeof texts

const holdsRequest = (
  { request, request_sha256: digest, idempotency_key: key, receipt }: Closure,
): boolean =>
  sha256Hex(request) === digest && receipt.request.sha256 === digest
    && receipt.request.idempotency_key === key
    && request.includes(canonicalJson({ idempotency_key: key }).slice(1, -1))

const isClosedJob = (view: View, job: Job | undefined, closure: Closure): boolean =>
  job?.closed?.closure_id === closure.closure_id && job.closed.fence === closure.fence
    && job.owner === closure.owner && job.root === closure.root && !job.reserved
    && view.get(connectionCollection, job.connection_id)?.active_job_id !== job.job_id

const isTold = (view: View, closure: Closure): boolean => {
  try {
    const told = jobEntries(view, checkpointHistory, closure.job_id)
      .filter((entry) => entry.what === 'closed')
    const [entry] = told
    return told.length === 1 && entry?.closure_id === closure.closure_id
      && entry.request === closure.request && entry.fence === closure.fence
      && entry.idempotency_key === closure.idempotency_key && entry.root === closure.root
      && entry.artifact_stored_sha256 === closure.artifact.stored_sha256
      && entry.receipt_sha256 === digestOf(closure.receipt)
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

/** What a closure is found to contradict; empty where all of it holds. */
export const closureFaults = (view: View, id: string, closure: Closure): readonly Code[] => {
  const found = holdsOf(view, id, closure)
  return (Object.keys(texts) as Code[]).filter((code) => !found[code])
}

const holdsOf = (view: View, id: string, closure: Closure): Record<Code, boolean> => {
  const job = view.get(jobCollection, closure.job_id)
  const account = view.get(collections.artifacts, closure.artifact.artifact_id)
  return {
    codehost_closure_id: closure.closure_id === id && closure.receipt.closure_id === id,
    codehost_closure_request: holdsRequest(closure),
    codehost_closure_job: isClosedJob(view, job, closure),
    codehost_closure_checkpoint: isTold(view, closure),
    codehost_closure_account: job?.restored === true
      || account?.ref.stored_sha256 === closure.artifact.stored_sha256,
  }
}

/** Every way in which closures contradict what they name, and jobs that no closure closed. */
export const verifyClosures = (view: View): Problem[] => [
  ...findEach(view, closureCollection, ({ id, doc }): Problem[] =>
    closureFaults(view, id, doc).map((code) => ({ code, subject: id, text: texts[code] }))),
  ...findEach(view, jobCollection, ({ id, doc: { closed } }): Problem[] => {
    if (closed === null || view.get(closureCollection, closed.closure_id) !== undefined) return []
    return [{
      code: 'codehost_closure_missing', subject: id,
      text: 'A job is closed by a closure that is not there.',
    }]
  }),
]

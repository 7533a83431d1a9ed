/** A job and the closure of its capacity, for receipts that others can check. */
import { fail } from '../base/errors.js'
import type { FindReceipted } from '../governance/receipted.js'
import type { View } from '../state/types.js'
import { showClosure } from './closure/look.js'
import { codehostBase } from './context.js'
import { isUnread, recordsUnread, requireOwnJob } from './jobs/change.js'
import { publicationKind } from './jobs/kinds.js'
import { receiptCollection } from './jobs/receipt.js'
import type { Job } from './jobs/job-rows.js'

const whatOf = ({ native_kind: kind, actions }: Job): string => {
  if (kind === publicationKind) return 'publication'
  return actions.includes('comment.create') ? 'comment' : 'issue'
}

/** The sealed readback that proved the job; null where none did. */
const proofOf = (view: View, { receipt_id: id }: Job) => {
  const row = id === null ? undefined : view.get(receiptCollection, id)
  return row === undefined ? null : {
    readback_id: row.readback_id, read_at: row.receipt.read_at,
    remote_id: row.receipt.effect.remote_id,
  }
}

const requireSent = (job: Job): void => {
  if (job.contacted > 0 && job.state !== 'running') return
  if (isUnread(job) || job.state === 'unknown_external_effect') {
    throw fail.conflict('no_receipt', 'It may have been sent; records of it are lost.', {
      reason: recordsUnread, next: `See \`sallyport codehost jobs ${job.job_id}\`.`,
      details: { job_id: job.job_id },
    })
  }
  throw fail.conflict('no_receipt', 'Nothing of this job was sent yet, or it is under way.', {
    next: `See \`sallyport codehost jobs ${job.job_id}\`.`, details: { job_id: job.job_id },
  })
}

/** A job that has contacted its host. Throws `not_found`, `conflict` `no_receipt`. */
export const receiptedJob: FindReceipted = (gov, view, session, id) => {
  const job = requireOwnJob(view, session, id)
  requireSent(job)
  const { approval } = job
  return {
    what: whatOf(job),
    content: [
      { name: 'preview', sha256: job.preview_sha256 },
      { name: 'plan', sha256: job.plan.sha256 },
    ],
    facts: {
      job_id: job.job_id, capability: job.capability, host: codehostBase(gov),
      repository: job.repository, repository_id: job.repository_id,
      state: job.state, reason: job.reason, attempt: job.attempt,
      consent_id: job.consent.consent_id, consent_expires_at: job.consent.expires_at,
      approval: approval === null ? null : { kind: approval.kind, at: approval.at },
      actions: [...job.actions],
      effects: { planned: job.plan.effects, contacted: job.contacted, created: job.created },
      remote_id: job.remote?.id ?? null,
      readback: proofOf(view, job), closure_id: job.closed?.closure_id ?? null,
      created_at: job.created_at, updated_at: job.updated_at,
    },
  }
}

/** A closure by its canonical receipt. Throws `not_found`. */
export const receiptedClosure: FindReceipted = (gov, view, session, id) => {
  const { receipt } = showClosure(view, session, id)
  const {
    request, evidence: { artifact_sha256: account, journals, ...evidence },
    producer: { marker_sha256: marker, ...producer }, ...facts
  } = receipt
  return {
    what: 'closure',
    content: [
      { name: 'account', sha256: account },
      { name: 'request', sha256: request.sha256 },
      ...journals.map((sha256, at) => ({ name: `journal ${at + 1}`, sha256 })),
      ...(marker === undefined ? [] : [{ name: 'marker', sha256: marker }]),
    ],
    facts: {
      host: codehostBase(gov), ...facts, idempotency_key: request.idempotency_key, evidence,
      producer,
    },
  }
}

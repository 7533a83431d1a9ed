/** What a run writes into the effect ledger of its job, and what it asks of it before. */
import { fail } from '../../base/errors.js'
import type { Sent } from '../../contact/order.js'
import type { Tx, View } from '../../state/types.js'
import { hostWindow, type Contact } from '../adapter/host-time.js'
import type { PostVerdict } from '../adapter/post-reply.js'
import type { Provenance } from '../adapter/provenance.js'
import { getJob, putJob } from './change.js'
import { effectLedger, type EffectLedger } from './effects.js'
import {
  appendEntry, effectHistory, jobEntries, lastEntry, type EffectEntry,
} from './histories.js'
import type { Job } from './rows.js'

/** The ledger of a job as of one view. */
export const ledgerOf = (view: Pick<View, 'get' | 'range'>, jobId: string): EffectLedger =>
  effectLedger(jobEntries(view, effectHistory, jobId))

/** What tells an effect of a job from its like. */
export const provenanceOf = (
  { author = null, mark }: Pick<Job, 'author' | 'mark'>, contact: Contact | null | undefined,
): Provenance =>
  ({ window: contact ? hostWindow(contact) : null, author, marked: mark !== undefined })

/** The same by the ledger of the job. */
export const effectProvenance = (
  job: Pick<Job, 'author' | 'mark'>, { effects }: Pick<EffectLedger, 'effects'>, number: number,
): Provenance =>
  provenanceOf(job, effects.find((effect) => effect.number === number)?.contact)

/**
 * Throws `conflict` `effect_contacted` unless no effect of a follow-through job may have happened:
 * what was contacted is never sent again, by any run.
 */
export const requireUnsent = (view: Pick<View, 'get' | 'range'>, job: Job): void => {
  const { effects } = ledgerOf(view, job.job_id)
  if (effects.length > 0 && effects.every(({ standing }) => standing === 'planned')) return
  throw fail.conflict('effect_contacted', 'What this job sends may have been sent already.', {
    next: `Nothing is sent twice. See \`sallyport codehost job ${job.job_id}\`.`,
    details: { job_id: job.job_id },
  })
}

type Outcome = Omit<Extract<EffectEntry, { type: 'outcome' }>, 'type' | 'at' | 'effect'>

const nothingTold = { status: null, remote_id: null, raw_sha256: null } as const

/** What came of a creation, by what was seen of the wire alone. */
export const outcomeOf = (wire: Sent<PostVerdict>): Outcome => {
  if (wire.kind === 'unsent') return { outcome: 'unsent', reason: wire.reason, ...nothingTold }
  if (wire.kind === 'sent') return { outcome: 'unknown', reason: wire.reason, ...nothingTold }
  const { verdict } = wire
  const { status, rawSha256: raw_sha256 } = verdict
  return verdict.kind === 'created'
    ? { outcome: 'created', reason: null, status, remote_id: verdict.remoteId, raw_sha256 }
    : { outcome: verdict.kind, reason: verdict.reason, status, remote_id: null, raw_sha256 }
}

/** Writes an outcome behind its mark; nothing where the effect was never marked. */
export const noteOutcome = (
  tx: Tx, now: string, jobId: string, effect: number, wire: Sent<PostVerdict>,
): void => {
  const job = getJob(tx, jobId)
  // A run marks one effect after the other: its own mark is the last line, however long it is.
  const last = lastEntry(tx, effectHistory, jobId)
  if (last?.type !== 'contacted' || last.effect !== effect) return
  const outcome = outcomeOf(wire)
  appendEntry(tx, effectHistory, jobId, { type: 'outcome', at: now, effect, ...outcome })
  const { remote_id: id } = outcome
  putJob(tx, now, job, {
    contacted: job.contacted - (outcome.outcome === 'unsent' ? 1 : 0),
    created: job.created + (outcome.outcome === 'created' ? 1 : 0),
    remote: id === null ? job.remote : { effect, id },
  })
  tx.mark()
}

/** What an effect came to whose process died behind its mark (nobody saw a reply). */
export const noteInterrupted = (tx: Tx, now: string, job: Job): void => {
  for (const { number, standing } of ledgerOf(tx, job.job_id).effects) {
    if (standing !== 'contacted') continue
    appendEntry(tx, effectHistory, job.job_id, {
      type: 'outcome', at: now, effect: number, outcome: 'unknown',
      reason: 'interrupted_after_contact', ...nothingTold,
    })
  }
}

/** What a later readback proved of an effect that may have happened: it did. */
export const noteFound = (
  tx: Tx, now: string, job: Job, effect: number, found: {
    readonly status: number
    readonly rawSha256: string
  },
): Job => {
  appendEntry(tx, effectHistory, job.job_id, {
    type: 'outcome', at: now, effect, outcome: 'created', reason: 'read_back',
    status: found.status, remote_id: null, raw_sha256: found.rawSha256,
  })
  tx.mark()
  return putJob(tx, now, job, { created: job.created + 1 })
}

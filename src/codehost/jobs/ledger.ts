/** What a run writes into the effect ledger of its job, and what it asks of it before. */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import type { Sent } from '../../contact/order.js'
import { waitOf, type RetryAfter } from '../../net/retry-after.js'
import type { Tx, View } from '../../state/types.js'
import { hostWindow, type Contact } from '../adapter/host-time.js'
import type { PostVerdict } from '../adapter/post-reply.js'
import type { Provenance } from '../adapter/provenance.js'
import { getJob, putJob } from './change.js'
import { effectLedger, type EffectLedger } from './effects.js'
import { appendEntry, effectHistory, jobEntries, lastEntry, type EffectEntry } from './histories.js'
import type { Job } from './job-rows.js'

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

type Outcome = Omit<Extract<EffectEntry, { type: 'outcome' }>, 'type' | 'at' | 'effect'>

const nothingTold = { status: null, remote_id: null, raw_sha256: null } as const

/** A host that names a later time than this names none. */
const backMsMax = 366 * 86_400_000

/** When a host lets its token come back, as a time of this machine; null for none. */
const backAt = (now: string, back: RetryAfter | null): string | null => {
  const nowMs = msFromIso(now)
  const waitMs = back === null ? 0 : waitOf(back, nowMs)
  return waitMs > 0 && waitMs <= backMsMax ? isoFromMs(nowMs + waitMs) : null
}

/** What came of a creation, by what was seen of the wire alone. */
export const outcomeOf = (now: string, wire: Sent<PostVerdict>): Outcome => {
  if (wire.kind === 'unsent') return { outcome: 'unsent', reason: wire.reason, ...nothingTold }
  if (wire.kind === 'sent') return { outcome: 'unknown', reason: wire.reason, ...nothingTold }
  const { verdict } = wire
  const retryAt = backAt(now, verdict.back)
  return {
    outcome: verdict.kind, reason: verdict.kind === 'created' ? null : verdict.reason,
    status: verdict.status, remote_id: verdict.remoteId, raw_sha256: verdict.rawSha256,
    ...(retryAt === null ? {} : { retry_at: retryAt }),
  }
}

/** Writes an outcome behind its mark; nothing where this run never marked the effect. */
export const noteOutcome = (
  tx: Tx, now: string, { jobId, operationId, effect }: {
    readonly jobId: string
    readonly operationId: string
    readonly effect: number
  }, wire: Sent<PostVerdict>,
): void => {
  const job = getJob(tx, jobId)
  // A run marks one effect after the other: its own mark is the last line, however long it is. The
  // mark of a run that has gone on behind it is not its own.
  const last = lastEntry(tx, effectHistory, jobId)
  if (last?.type !== 'contacted' || last.effect !== effect) return
  if (last.operation_id !== operationId) return
  const outcome = outcomeOf(now, wire)
  appendEntry(tx, effectHistory, jobId, { type: 'outcome', at: now, effect, ...outcome })
  const { remote_id: id, retry_at } = outcome
  putJob(tx, now, job, {
    contacted: job.contacted - (outcome.outcome === 'unsent' ? 1 : 0),
    created: job.created + (outcome.outcome === 'created' ? 1 : 0),
    remote: id === null ? job.remote : { effect, id },
    ...(retry_at === undefined ? {} : { retry_at }),
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

/**
 * What later readbacks proved of effects that may have happened: they did. Answers the job as it is
 * counted then; its row is for the caller to write, and the anchor for it to move.
 */
export const noteFound = (
  tx: Tx, now: string, job: Job, found: readonly {
    readonly effect: number
    readonly remoteId: number | null
    readonly status: number
    readonly rawSha256: string
  }[],
): Job => {
  const { effects } = ledgerOf(tx, job.job_id)
  const open = found.filter(({ effect }) =>
    effects.find(({ number }) => number === effect)?.standing !== 'created')
  for (const { effect, status, remoteId, rawSha256 } of open) {
    appendEntry(tx, effectHistory, job.job_id, {
      type: 'outcome', at: now, effect, outcome: 'created', reason: 'read_back', status,
      remote_id: remoteId, raw_sha256: rawSha256,
    })
  }
  return { ...job, created: job.created + open.length }
}

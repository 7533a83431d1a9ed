/**
 * The append-only histories of a job, by its id: what was sent and what came of it, which sealed
 * content belongs to it, how it came to its connection and left it, and what was read back (C-070
 * to C-074).
 */
import * as v from 'valibot'
import { count, counted, iso, sha256, text } from '../../base/schema.js'
import { canonicalJson } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { historyRoom } from '../../state/history/append.js'
import { historyHead, historyPage } from '../../state/history/read-history.js'
import { historySpec } from '../../state/history/spec.js'
import type { HistorySpec, Tx, View } from '../../state/types.js'

/** What came of an effect. `unsent` is proof that no byte of it left. */
const effectOutcomes = ['created', 'refused', 'unknown', 'unsent'] as const
export type EffectOutcome = (typeof effectOutcomes)[number]

const effectEntry = v.variant('type', [
  v.strictObject({
    type: v.literal('plan'), at: iso, artifact_id: text, sha256, effects: counted,
    authority_sha256: sha256,
  }),
  v.strictObject({
    type: v.literal('contacted'), at: iso, effect: counted, attempt: counted, operation_id: text,
    fence: counted, body_sha256: sha256,
    /** How far the host's clock was ahead; left out where it did not tell. */
    host_ahead: v.optional(v.strictObject({ least_ms: v.number(), most_ms: v.number() })),
  }),
  v.strictObject({
    type: v.literal('outcome'), at: iso, effect: counted, outcome: v.picklist(effectOutcomes),
    /** HTTP status of a complete reply. */
    status: v.nullable(counted), reason: v.nullable(text),
    /** What the host numbered it; null where it did not, or nobody knows. */
    remote_id: v.nullable(counted),
    /** SHA-256 of the reply's bytes as they came. */
    raw_sha256: v.nullable(sha256),
    /** When the token may come back; left out where no limit of it was named, or no time. */
    retry_at: v.optional(iso),
  }),
  /** The local intent of a publication: durable before its producer is started. */
  v.strictObject({
    type: v.literal('spawn'), at: iso, attempt: counted, operation_id: text, fence: counted,
    producer_id: text, binding_sha256: sha256,
  }),
  /** Proof that nothing of the producer is left, and whether it made everything. */
  v.strictObject({
    type: v.literal('produced'), at: iso, producer_id: text, marker_sha256: sha256,
    end: v.picklist(['complete', 'prefix']), reason: v.nullable(text),
  }),
])
/** One line of the effect ledger. */
export type EffectEntry = v.InferOutput<typeof effectEntry>

/** The effect ledger: one line registers the plan, two tell of the producer, then two a POST. */
export const effectHistory: HistorySpec<EffectEntry> = historySpec({
  name: 'codehost_effects', entry: effectEntry,
})

const artifactEntry = v.strictObject({
  at: iso, artifact_id: text, label: text, sha256, stored_sha256: sha256, bytes: count,
})
/** Sealed content of a job. */
export const artifactHistory = historySpec({ name: 'codehost_artifacts', entry: artifactEntry })

const checkpointEntry = v.variant('what', [
  v.strictObject({
    at: iso, what: v.picklist(['reserved', 'released']), fence: counted, attempt: counted,
    operation_id: v.nullable(text), reason: v.nullable(text),
  }),
  /** The closure of its capacity: enough by itself to refuse whatever would execute the job. */
  v.strictObject({
    at: iso, what: v.literal('closed'), fence: counted, attempt: count, closure_id: text,
    job_id: text, job_revision: counted, root: text, idempotency_key: text,
    /** Canonical text of the request, and its digest. */
    request: text, request_sha256: sha256,
    artifact_id: text, artifact_sha256: sha256, artifact_stored_sha256: sha256,
    producer: text, receipt_sha256: sha256, recovery_contract: v.literal('V3'),
  }),
])
type CheckpointEntry = v.InferOutput<typeof checkpointEntry>
/** How a job came to occupy its connection, and how it left it. */
export const checkpointHistory: HistorySpec<CheckpointEntry> = historySpec({
  name: 'codehost_checkpoints', entry: checkpointEntry,
})

/** What reads of a job were for. */
export const readPurposes = ['readback', 'reconcile', 'closure', 'observation'] as const

const readEntry = v.strictObject({
  at: iso, operation_id: text, purpose: v.picklist(readPurposes),
  read_revision: counted, gets: counted, raw_bytes: count,
  /** The sealed journals of its receipts. */
  journals: v.pipe(v.array(v.strictObject({ artifact_id: text, sha256 })), v.minLength(1)),
  receipts: v.pipe(v.array(text), v.minLength(1)),
})
/** What was read back: one line an operation. */
export const readHistory = historySpec({ name: 'codehost_reads', entry: readEntry })

/** Every history of a job, by the name that people ask for it with. */
export const jobHistories = {
  effects: effectHistory, artifacts: artifactHistory, checkpoints: checkpointHistory,
  reads: readHistory,
} as const
export type JobHistoryName = keyof typeof jobHistories

/** Longest line of an effect, in bytes; a mark is made only where its outcome still fits. */
export const effectEntryBytesMax = 1_000

/** Appends one entry behind whatever is there in this very transaction. */
export const appendEntry = <T>(tx: Tx, spec: HistorySpec<T>, jobId: string, entry: T): void => {
  tx.append(spec, jobId, historyHead(tx, spec, jobId), [entry])
}

/**
 * Appends the mark of an effect. Throws `blocked` `history_full` where its outcome would not fit
 * behind it: what was sent must be tellable.
 */
export const appendContacted = (
  tx: Tx, jobId: string, entry: Extract<EffectEntry, { type: 'contacted' }>,
): void => {
  const head = historyHead(tx, effectHistory, jobId)
  const room = historyRoom(effectHistory, head)
  const needed = Buffer.byteLength(canonicalJson(entry)) + 1 + effectEntryBytesMax
  if (room.entries < 2 || room.bytes < needed) {
    throw fail.blocked(
      'history_full', 'The history of this job has no room for one more effect and its outcome.', {
        next: 'Nothing was sent. Publish less in one job.',
        details: { history: effectHistory.name, entries: head.entries, bytes: head.bytes },
      },
    )
  }
  tx.append(effectHistory, jobId, head, [entry])
}

const pageEntries = 512

/** Every entry of a history of a job, oldest first; throws where some were lost or altered. */
export const jobEntries = <T>(
  view: Pick<View, 'get' | 'range'>, spec: HistorySpec<T>, jobId: string,
): readonly T[] => {
  const all: T[] = []
  for (;;) {
    const page = historyPage(view, spec, jobId, { after: all.length, limit: pageEntries })
    all.push(...page.map(({ entry }) => entry))
    if (page.length < pageEntries) return all
  }
}

/** The newest entry of a history of a job; undefined for an empty one. */
export const lastEntry = <T>(
  view: Pick<View, 'get' | 'range'>, spec: HistorySpec<T>, jobId: string,
): T | undefined => {
  const { entries } = historyHead(view, spec, jobId)
  return historyPage(view, spec, jobId, { after: Math.max(0, entries - 1), limit: 1 })[0]?.entry
}

/**
 * The one record that closes: every binding is read once more, and the checkpoint, the account, the
 * permanent fence, the binding of the key and the freed connection become durable together or not
 * at all. From its begin to its end no file is read (C-058, C-087 to C-093, C-216, C-238, C-250 to
 * C-258, C-262, C-263).
 */
import { digestOf } from '../../base/canonical.js'
import type { Tried } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import type { Gov, Session } from '../../governance/context.js'
import { requireLiveRow } from '../../governance/session/live.js'
import { historyRoom } from '../../state/history/append.js'
import { historyHead } from '../../state/history/read-history.js'
import type { ArtifactRef, HistorySpec, Tx, View } from '../../state/types.js'
import { closureLabel } from '../constants.js'
import { appendEntry, artifactHistory, checkpointHistory, readHistory } from '../jobs/histories.js'
import { registerJobArtifact } from '../jobs/prepared.js'
import { jobCollection } from '../jobs/job-rows.js'
import { keepReads } from '../jobs/settle.js'
import { requireBindings, type Bindings } from './bindings.js'
import { closureBlocked } from './blockers.js'
import { appliedClosure, requireIdentity, type Identified } from './eligible.js'
import type { Evidence } from './evidence.js'
import { journalsMax, rowedReceipts, type SealedJournal } from './journals.js'
import { mintClosureReceipt, type ReceiptParts } from './receipt.js'
import { requireItsOwn } from './repeated.js'
import { closureCollection, type Closure } from '../jobs/closed/closed-job-rows.js'

/** Everything that a closure brings into its record; all of it was made before. */
export interface Prepared extends ReceiptParts {
  readonly session: Session
  readonly jobId: string
  readonly bindings: Bindings
  readonly evidence: Evidence
  /** The sealed journals of its own readbacks; none where earlier ones serve. */
  readonly sealed: readonly SealedJournal[]
  readonly operationId: string
  readonly artifactId: string
  readonly account: ArtifactRef
  /** Last use of the session; null where it is not known. */
  readonly lastUseMs: number | null
}

/** Longest line that a closure appends to a history, bytes, and what each journal adds to one. */
const lineBytesMax = 4_096
const journalBytes = 256

const hasRoom = <T>(
  view: View, spec: HistorySpec<T>, jobId: string, entries: number, lineBytes = lineBytesMax,
): boolean => {
  const room = historyRoom(spec, historyHead(view, spec, jobId))
  return room.entries >= entries && room.bytes >= entries * lineBytes
}

/**
 * Throws `blocked` `closure_blocked` where a history of the job has no room for what a closure
 * appends that reads so many effects: asked before anybody is contacted, and nothing is ever
 * evicted (C-073).
 */
export const requireHistoryRoom = (view: View, jobId: string, reads: number): void => {
  const journals = journalsMax(reads)
  const fits = hasRoom(view, checkpointHistory, jobId, 1)
    && hasRoom(view, artifactHistory, jobId, 1 + journals)
    && hasRoom(view, readHistory, jobId, 1, lineBytesMax + journals * journalBytes)
  if (!fits) throw closureBlocked('history_full', jobId)
}

/** As above, for a look after a closure: it appends its journals, and no checkpoint. */
export const requireReadRoom = (view: View, jobId: string, reads: number): void => {
  const journals = journalsMax(reads)
  const fits = hasRoom(view, artifactHistory, jobId, journals)
    && hasRoom(view, readHistory, jobId, 1, lineBytesMax + journals * journalBytes)
  if (!fits) throw closureBlocked('history_full', jobId)
}

const keepEvidence = (gov: Gov, tx: Tx, { job }: Identified, prepared: Prepared): void => {
  const { sealed, evidence: { receipts }, operationId, rawBytes, gets, at } = prepared
  requireItsOwn(tx, job, receipts.map(({ effect }) => effect))
  if (sealed.length === 0) return
  keepReads({ gov }, tx, at, job, {
    purpose: 'closure', operationId, journals: sealed, rowed: rowedReceipts(receipts), rawBytes,
    gets,
  })
}

const closureOf = (
  { job }: Identified, prepared: Prepared, receipt: Closure['receipt'],
): Closure => {
  const { closureId, at, read, artifactId, account } = prepared
  return {
    closure_id: closureId, job_id: job.job_id, owner: job.owner, root: job.root,
    connection_id: job.connection_id, idempotency_key: read.request.idempotency_key,
    request: read.canonical, request_sha256: read.sha256, closed_at: at,
    fence: receipt.connection.fence,
    artifact: {
      artifact_id: artifactId, sha256: account.sha256, stored_sha256: account.stored_sha256,
      bytes: account.bytes,
    },
    receipt,
  }
}

const appendCheckpoint = (tx: Tx, { job }: Identified, closure: Closure): void => {
  const { artifact, receipt } = closure
  appendEntry(tx, checkpointHistory, job.job_id, {
    at: closure.closed_at, what: 'closed', fence: closure.fence, attempt: job.attempt,
    closure_id: closure.closure_id, job_id: job.job_id, job_revision: job.revision,
    root: closure.root, idempotency_key: closure.idempotency_key, request: closure.request,
    request_sha256: closure.request_sha256, artifact_id: artifact.artifact_id,
    artifact_sha256: artifact.sha256, artifact_stored_sha256: artifact.stored_sha256,
    producer: receipt.producer.standing, receipt_sha256: digestOf(receipt),
    recovery_contract: 'V3',
  })
}

/** Two values of the job and one of the connection change, and nothing else of either (C-262). */
const free = (tx: Tx, { job, connection }: Identified, closure: Closure): void => {
  const { closure_id, closed_at: at, fence } = closure
  tx.put(jobCollection, job.job_id, {
    ...job, revision: job.revision + 1, reserved: false, closed: { closure_id, at, fence },
  })
  tx.put(connectionCollection, connection.connection_id, { ...connection, active_job_id: null })
}

const write = (gov: Gov, tx: Tx, of: Identified, prepared: Prepared): string => {
  const { job } = of
  keepEvidence(gov, tx, of, prepared)
  registerJobArtifact(tx, prepared.at, job, {
    artifactId: prepared.artifactId, label: closureLabel, ref: prepared.account,
  })
  const closure = closureOf(of, prepared, mintClosureReceipt(gov.store, tx, of, prepared))
  tx.put(closureCollection, closure.closure_id, closure)
  appendCheckpoint(tx, of, closure)
  free(tx, of, closure)
  appendAudit(tx, prepared.at, {
    what: 'codehost.capacity_closed', principal: job.owner, root: job.root, subject: job.job_id,
    facts: {
      closure: closure.closure_id, connection: job.connection_id, fence: closure.fence,
      state: job.state, request: closure.request_sha256,
    },
  })
  tx.mark()
  return closure.closure_id
}

/** What the record came to. */
export interface Committed {
  readonly closureId: string
  /** False where another process had applied the very same request by then. */
  readonly own: boolean
}

/**
 * Commits; by `tried` it says when rows may name what was sealed. Throws what the bindings,
 * identity and session say, and what the lock and the disk do; then nothing was closed.
 */
export const commitClosure = (gov: Gov, prepared: Prepared, tried: Tried): Promise<Committed> => {
  const { session, jobId, read, bindings, lastUseMs } = prepared
  const { root_id: rootId } = session.root
  // It is asked twice: first only for what it reads.
  return gov.store.transactLoaded('codehost close-capacity', tried((named, tx) => {
    const live = requireLiveRow(tx, rootId, { wallMs: gov.clock.wallMs(), lastUseMs })
    const of = requireIdentity(tx, live, jobId)
    const applied = appliedClosure(tx, of.job, read)
    if (applied !== null) return { closureId: applied.closure_id, own: false }
    // With the same bindings it is as closable as when they were read.
    requireBindings(tx, jobId, bindings)
    const closureId = write(gov, tx, of, prepared)
    named()
    return { closureId, own: true }
  }))
}

/**
 * Sealed receipts of what was read back. Each is made here, out of the bytes of a real reply, and
 * binds everything that the readback rests on; its seal needs the key of the store, so that no
 * caller and no hand-written row makes one (C-059 to C-069).
 */
import * as v from 'valibot'
import { count, counted, sha256, text } from '../../base/schema.js'
import { canonicalJson, digestOf } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { findTask } from '../../governance/board/place.js'
import { nowIso, type Gov } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { ArtifactRef, CollectionSpec, Index, Store, View } from '../../state/types.js'
import type { ReadVerdict } from '../adapter/readback.js'
import { codehostLimits, journalLabel } from '../constants.js'
import { nativeKinds, publicCapability } from './kinds.js'
import type { PlannedEffect } from './plan.js'
import type { Job } from './job-rows.js'

const receiptShape = v.strictObject({
  schema: v.literal('svc.codehost.read-receipt.v1'),
  readback_id: text,
  read_at: v.pipe(v.string(), v.isoTimestamp()),
  principal: text,
  root: text,
  native_kind: v.picklist(nativeKinds),
  capability: text,
  job_id: text,
  attempt: counted,
  /** Effects of the job that may have happened. */
  count: counted,
  /** The job's receipt revision when it was read. */
  job_revision: counted,
  authority_sha256: sha256,
  input_sha256: sha256,
  run_sha256: sha256,
  /** The task with its attempt and the fence of its last lease; null where none is bound. */
  task: v.nullable(v.strictObject({ task_id: text, attempt: counted, fence: count })),
  /** The consent under which it was written, whatever became of that consent. */
  write_binding: v.record(text, v.union([text, v.number()])),
  /** Revision of the connection that it was read at. */
  read_revision: counted,
  connection_id: text,
  repository: text,
  repository_id: counted,
  vault: v.record(text, v.nullable(v.union([text, v.number()]))),
  get_path: text,
  effect: v.strictObject({
    effect_id: text, number: counted, action: text, path: text, body_sha256: sha256,
    idempotency: text,
    /** The number that the host chose; null where the id was known before. */
    remote_id: v.nullable(counted),
    /** The predicted id, of what has one: a branch has that of its commit. */
    object_id: v.optional(text),
  }),
  /** Of the reply's bytes as they came. */
  raw_sha256: sha256,
  /** Of what they say, whatever the spacing. */
  payload_sha256: sha256,
  /** The host told that it was changed since it was made; left out where it did not. */
  edited: v.optional(v.literal(true)),
  /** Of all of the above as canonical JSON. */
  readback_sha256: sha256,
})
export type ReadReceipt = v.InferOutput<typeof receiptShape>

/** Shape of a receipt with its seal. */
export const sealedReceiptShape = v.strictObject({
  readback_id: text,
  job_id: text,
  receipt: receiptShape,
  journal: v.strictObject({ artifact_id: text, sha256 }),
  /** Keyed digest of receipt and journal. */
  seal: sha256,
})
/** A receipt as it is kept, with the sealed journal that it lies in. */
export type ReceiptRow = v.InferOutput<typeof sealedReceiptShape>

export const receiptsByJob: Index<ReceiptRow> = {
  name: 'job', parts: 1, keysOf: ({ job_id: job }) => [[job]],
}

/** One thing on the host; issues and pull requests share their numbers. Null without a number. */
const remoteKey = (
  repositoryId: number, action: string, remoteId: number | null,
): readonly string[] | null => (remoteId === null ? null : [
  String(repositoryId), action === 'comment.create' ? 'comment' : 'number', String(remoteId),
])

/** Receipts by what the host numbered. */
const receiptsByRemote: Index<ReceiptRow> = {
  name: 'remote', parts: 3,
  keysOf: ({ receipt: { repository_id: repository, effect } }) => {
    const key = remoteKey(repository, effect.action, effect.remote_id)
    return key === null ? [] : [key]
  },
}

export const receiptCollection: CollectionSpec<ReceiptRow> = {
  name: 'codehost_receipts', schema: sealedReceiptShape, partition: 'hash256',
  indexes: [receiptsByJob, receiptsByRemote],
}

/** The serialized intent that a receipt is about. */
export type EffectIdentity = Pick<
  PlannedEffect, 'effect_id' | 'number' | 'action' | 'path' | 'body_sha256' | 'idempotency'
>

/**
 * Whether something that the host numbered proves another job already: then one of the two was
 * never made, and it proves this one no more.
 */
export const provesAnother = (
  view: View, job: Job,
  effects: readonly { readonly action: string, readonly remote_id: number | null }[],
): boolean => effects.some(({ action, remote_id: id }) => {
  const under = remoteKey(job.repository_id, action, id)
  return under !== null && rowsUnder(view, receiptCollection, receiptsByRemote, { under })
    .some(({ doc }) => doc.job_id !== job.job_id)
})

/** What a receipt is made from, besides rows. */
interface Proof {
  readonly effect: EffectIdentity
  readonly remoteId: number | null
  /** Left out where it has none. */
  readonly objectId?: string
  readonly path: string
  readonly verdict: Extract<ReadVerdict, { kind: 'matches' }>
  readonly readRevision: number
}

const taskBound = (view: View, { task_id: id }: Job): ReadReceipt['task'] => {
  const task = id === null ? undefined : findTask(view, id)
  return task === undefined
    ? null : { task_id: task.task_id, attempt: task.attempt, fence: task.lease_fence }
}

/** The receipt of a readback, from the rows of one view. */
export const mintReceipt = (gov: Gov, view: View, job: Job, proof: Proof): ReadReceipt => {
  const { effect, remoteId, objectId, path, verdict, readRevision } = proof
  const unsigned: Omit<ReadReceipt, 'readback_sha256'> = {
    schema: 'svc.codehost.read-receipt.v1', readback_id: newId('rdb'), read_at: nowIso(gov),
    principal: job.owner, root: job.root, native_kind: job.native_kind,
    capability: publicCapability(job.native_kind, job.capability), job_id: job.job_id,
    attempt: job.attempt, count: job.contacted, job_revision: job.revision,
    authority_sha256: job.authority_sha256, input_sha256: job.input_sha256,
    run_sha256: job.run_sha256 ?? '', task: taskBound(view, job),
    write_binding: { ...job.consent }, read_revision: readRevision,
    connection_id: job.connection_id, repository: job.repository,
    repository_id: job.repository_id, vault: { ...job.vault }, get_path: path,
    effect: {
      effect_id: effect.effect_id, number: effect.number, action: effect.action,
      path: effect.path, body_sha256: effect.body_sha256, idempotency: effect.idempotency,
      remote_id: remoteId, ...(objectId === undefined ? {} : { object_id: objectId }),
    },
    raw_sha256: verdict.rawSha256, payload_sha256: verdict.payloadSha256,
    ...(verdict.edited ? { edited: true } : {}),
  }
  return { ...unsigned, readback_sha256: digestOf(unsigned) }
}

/** Seals receipts into one journal. Throws `blocked` `journal_too_large` above its limit. */
export const sealJournal = (gov: Gov, receipts: readonly ReadReceipt[]): ArtifactRef => {
  const bytes = Buffer.from(canonicalJson({ schema: 'svc.codehost.reads.v1', receipts }))
  if (bytes.length > codehostLimits.journalBytesMax) {
    throw fail.blocked('journal_too_large', 'The receipts of one readback are too many bytes.')
  }
  return gov.store.artifacts.write(journalLabel, bytes)
}

const sealOf = (store: Store, receipt: ReadReceipt, journal: ReceiptRow['journal']): string =>
  store.keyedDigest('codehost read receipt', Buffer.from(canonicalJson({ receipt, journal })))

export const receiptRow = (
  store: Store, receipt: ReadReceipt, journal: ReceiptRow['journal'],
): ReceiptRow => ({
  readback_id: receipt.readback_id, job_id: receipt.job_id, receipt, journal,
  seal: sealOf(store, receipt, journal),
})

/** Whether a receipt is of its own digest; that alone is no seal. */
export const isWhole = ({ readback_sha256: digest, ...unsigned }: ReadReceipt): boolean =>
  digestOf(unsigned) === digest

/** Whether a row is as it was made here: its digest its own, its seal this store's (C-069). */
export const isSealed = (store: Store, { receipt, journal, seal, ...ids }: ReceiptRow): boolean => {
  return isWhole(receipt) && ids.readback_id === receipt.readback_id
    && ids.job_id === receipt.job_id && seal === sealOf(store, receipt, journal)
}

/**
 * Requests to close that were sent and whose answer nobody may have seen: `<state>/pending/<key>`
 * `.json`, for its owner alone, written before anybody is contacted and never replaced. A file
 * there is no grant and no evidence; it only lets the very same request be sent again (C-149 to
 * C-151).
 */
import { join } from 'node:path'
import * as v from 'valibot'
import { canonicalJson } from '../../../base/canonical.js'
import { fail } from '../../../base/errors.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import {
  ensureDir, errnoOf, nodeFiles, orIoFailure, readWhole, removeFile, syncDir, writeTemporary,
} from '../../../state/files.js'
import { requireOwnFolders } from '../../../state/folders.js'
import { pendingFolder, pendingName } from '../../../state/pending.js'
import { nativeKinds } from '../kinds.js'
import { closureLimits } from './closed-job-limits.js'
import { closeRequestOf, isClosureKey, type ReadRequest } from './request.js'

const shape = v.strictObject({
  schema: v.literal('svc.codehost.close-pending.v1'),
  job_id: v.string(),
  kind: v.picklist(nativeKinds),
  request: v.record(v.string(), v.unknown()),
})

/** A kept request. */
export interface Pending {
  readonly key: string
  readonly jobId: string
  readonly read: ReadRequest
  /** The file's bytes, as they were read. */
  readonly bytes: Buffer
}

const altered = (key: string) => fail.blocked(
  'pending_altered', 'A kept request is not as it was kept; it is neither sent nor removed.', {
    next: 'Look at pending/ in the state directory, and give the request by --from.',
    details: { key },
  },
)

const pathOf = (dir: string, key: string): string => {
  if (!isClosureKey(key)) throw new TypeError('not a key of a request')
  return join(dir, pendingFolder, pendingName(key))
}

type Subject = Pick<Pending, 'jobId' | 'read'> & { readonly kind: (typeof nativeKinds)[number] }

/** The bytes that are kept of a request. */
const bytesOf = ({ jobId, kind, read: { request } }: Subject): Buffer => Buffer.from(canonicalJson({
  schema: 'svc.codehost.close-pending.v1', job_id: jobId, kind, request,
}))

const parsed = (key: string, bytes: Buffer): Pending => {
  try {
    const value = v.parse(shape, parseStrictJson(bytes, {
      bytesMax: closureLimits.pendingBytesMax, depthMax: 2,
    }))
    const read = closeRequestOf(value.request, value.kind)
    const same = read.request.idempotency_key === key
      && bytesOf({ jobId: value.job_id, kind: value.kind, read }).equals(bytes)
    if (same) return { key, jobId: value.job_id, read, bytes }
  } catch {
    // What does not parse was not kept by this program.
  }
  throw altered(key)
}

/** The kept request of a key; undefined where there is none. Throws `blocked` `pending_altered`. */
export const readPending = (dir: string, key: string): Pending | undefined => {
  requireOwnFolders(nodeFiles, dir, ['pending'])
  const bytes = orIoFailure('a kept request', () =>
    readWhole(nodeFiles, pathOf(dir, key), closureLimits.pendingBytesMax))
  return bytes === undefined ? undefined : parsed(key, bytes)
}

/** Keys of all kept requests. */
const pendingKeys = (dir: string): readonly string[] => {
  requireOwnFolders(nodeFiles, dir, ['pending'])
  const folder = join(dir, pendingFolder)
  if (nodeFiles.stat(folder) === undefined) return []
  return nodeFiles.list(folder).filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length)).filter(isClosureKey)
}

/** Kept requests of a job; those that cannot be read are left out. */
export const pendingOfJob = (dir: string, jobId: string): readonly Pending[] =>
  pendingKeys(dir).flatMap((key) => {
    try {
      const found = readPending(dir, key)
      return found?.jobId === jobId ? [found] : []
    } catch {
      return []
    }
  })

/** What a key must not be kept for already. Throws `conflict` `idempotency_conflict`. */
const requireSame = (dir: string, subject: Subject): boolean => {
  const { read: { request: { idempotency_key: key } } } = subject
  const found = readPending(dir, key)
  if (found === undefined) return false
  if (found.bytes.equals(bytesOf(subject))) return true
  throw fail.conflict('idempotency_conflict', 'This key is kept for another request.', {
    next: `Send that again, or discard it: \`sallyport codehost recover discard ${found.jobId}\`.`,
    details: { job_id: subject.jobId },
  })
}

/**
 * Keeps a request, durable when it returns; nothing to do where the same one is kept. Throws
 * `conflict` `idempotency_conflict`, `blocked` `pending_altered`, and what the disk does.
 */
export const keepPending = (dir: string, subject: Subject): void => {
  if (requireSame(dir, subject)) return
  const path = pathOf(dir, subject.read.request.idempotency_key)
  orIoFailure('keeping a request', () => {
    const folder = join(dir, pendingFolder)
    ensureDir(nodeFiles, folder)
    const temporary = writeTemporary(nodeFiles, folder, bytesOf(subject))
    try {
      nodeFiles.link(temporary, path)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    } finally {
      removeFile(nodeFiles, temporary)
      syncDir(nodeFiles, folder)
    }
  })
  // Whoever was quicker must have kept the very same.
  requireSame(dir, subject)
}

/**
 * Removes a kept request whose file still holds the very bytes that were read. Throws `conflict`
 * `pending_changed` where it does not.
 */
export const dropPending = (dir: string, { key, bytes, jobId }: Pending): void => {
  const now = orIoFailure('a kept request', () =>
    readWhole(nodeFiles, pathOf(dir, key), closureLimits.pendingBytesMax))
  if (now === undefined) return
  if (!now.equals(bytes)) {
    throw fail.conflict('pending_changed', 'The kept request changed meanwhile; it stays.', {
      next: `Look again: \`sallyport codehost recover inspect ${jobId}\`.`,
      details: { job_id: jobId },
    })
  }
  orIoFailure('discarding a request', () => {
    removeFile(nodeFiles, pathOf(dir, key))
    syncDir(nodeFiles, join(dir, pendingFolder))
  })
}

/**
 * The seal of a log: its last record, chained as all are, which names the epoch of the log that
 * took over. So a newest log that is gone is noticed: the one before it says that there was one.
 *
 * It is written after the new log is in place, never before: a process that dies in between leaves
 * an unsealed log with a successor, which the next writer seals, and no log that names a successor
 * which never was.
 */
import { canonicalJson } from '../../base/canonical.js'
import type { Files } from '../files.js'
import { errnoOf, readRange, withFile, writeAll } from '../files.js'
import { encodeRecord } from '../log/format.js'
import type { Places } from '../paths.js'
import { logEpochs } from '../paths.js'
import { looseManifest } from './checkpoint.js'
import type { Generation } from './generation.js'
import { openEpoch } from './load.js'

/** The seal that the log before must end with; it follows from the generation that took over. */
const sealOf = (epoch: number, successor: Generation): Buffer => {
  const { header, manifest } = successor
  const payload = canonicalJson({
    at: manifest.written_at, next_epoch: header.epoch, ops: [], verb: 'fold',
  })
  const binding = { storeId: header.store_id, epoch }
  return encodeRecord(binding, header.base_sequence + 1, header.base_chain, payload).bytes
}

const endsWith = (files: Files, path: string, seal: Buffer): boolean =>
  withFile(files, path, 'read', (fd) => {
    const { size } = files.fstat(fd)
    return size >= seal.length && readRange(files, fd, size - seal.length, seal.length).equals(seal)
  })

/**
 * Seals the log that `successor` was folded from, unless it is sealed already or does not lead to
 * it (a repair or a restore came in between). The lock must be held. Durable when it returns.
 */
export const sealFormer = (files: Files, places: Places, successor: Generation): void => {
  const epoch = logEpochs(files.list(places.wal)).filter((other) => other < successor.epoch).at(-1)
  if (epoch === undefined) return
  const seal = sealOf(epoch, successor)
  try {
    if (endsWith(files, places.log(epoch), seal)) return
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return
    throw error
  }
  const opened = openEpoch(files, places, new Map(), successor.header.store_id, epoch)
  if (opened === undefined || opened === 'gone') return
  const { generation: former } = opened
  try {
    const leads = former.chain === successor.header.base_chain && former.sealedFor === undefined
    if (!leads || !['clean', 'torn'].includes(former.tail)) return
    withFile(files, former.logPath, 'readwrite', (fd) => {
      if (files.fstat(fd).size > former.end) files.truncate(fd, former.end)
      writeAll(files, fd, seal, former.end)
      files.syncData(fd)
    })
  } finally {
    former.close()
  }
}

/**
 * Whether a log is gone that took over from this newest one: it is sealed for one that is not
 * there, or the manifest of the next epoch knows records that this log does not hold. A manifest
 * that knows no more is what a fold left that was cut off, and harmless.
 */
export const successorMissing = (
  files: Files, places: Places, generation: Generation,
): boolean => {
  const { sealedFor, epoch } = generation
  if (sealedFor !== undefined) return !files.exists(places.log(sealedFor))
  if (!files.exists(places.manifest(epoch + 1))) return false
  if (files.exists(generation.nextLogPath)) return false
  const stray = looseManifest(files, places.manifest(epoch + 1))
  if (stray?.mark_floor !== generation.manifest.mark_floor) return false
  generation.readTail(files.stat(generation.logPath)?.size ?? generation.end)
  return stray.sequence > generation.sequence && !files.exists(generation.nextLogPath)
}

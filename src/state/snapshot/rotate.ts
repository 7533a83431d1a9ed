/**
 * Rotating: a new log goes on where the newest one ends, and the one before is sealed. Its seal is
 * its last record, chained as all are, which names the epoch of the log that took over: so a newest
 * log that is gone is noticed. That is all that folding needs the state lock for.
 *
 * The seal is written after the new log is in place, never before: a process that dies in between
 * leaves an unsealed log with a successor, which the next writer seals, and no log that names a
 * successor which never was.
 */
import { canonicalJson } from '../../base/canonical.js'
import { join } from 'node:path'
import {
  errnoOf, isTemporary, readRange, removeFile, syncDir, withFile, writeAll, writeTemporary,
  type Files,
} from '../files.js'
import {
  bindingOf, encodeLogHeader, encodeRecord, logHeaderBytesMax, decodeLogHeader, type LogHeader,
} from '../log/format.js'
import { bytesInFile, scanLog } from '../log/scan.js'
import { logEpochs, type Places } from '../paths.js'
import { headerIn } from './founding.js'
import type { Generation } from './generation.js'
import { headerOf } from './header.js'

/** The seal that the log before must end with; it follows from the log that took over. */
const sealOf = (epoch: number, successor: LogHeader): Buffer => {
  const payload = canonicalJson({ at: '', next_epoch: successor.epoch, ops: [], verb: 'rotate' })
  const binding = { ...bindingOf(successor), epoch }
  return encodeRecord(binding, successor.base_sequence + 1, successor.base_chain, payload).bytes
}

/** Where the seal begins that a log ends with; undefined where it ends otherwise. */
const sealedAt = (files: Files, path: string, seal: Buffer): number | undefined =>
  withFile(files, path, 'read', (fd) => {
    const end = files.fstat(fd).size - seal.length
    return end >= 0 && readRange(files, fd, end, seal.length).equals(seal) ? end : undefined
  })

/** Where the records of a log end that lead to a chain; undefined where none do. */
const endAt = (files: Files, path: string, successor: LogHeader): number | undefined =>
  withFile(files, path, 'read', (fd) => {
    const { size } = files.fstat(fd)
    const head = decodeLogHeader(readRange(files, fd, 0, Math.min(size, logHeaderBytesMax)))
    if (head?.header.store_id !== successor.store_id) return undefined
    const from = { sequence: head.header.base_sequence, chain: head.header.base_chain }
    let end = from.chain === successor.base_chain ? head.end : undefined
    scanLog(bindingOf(head.header), bytesInFile(files, fd, head.end, size), from, (record) => {
      if (record.chain === successor.base_chain) end = head.end + record.end
      return end === undefined
    })
    return end
  })

/**
 * Seals the log before, unless it does not lead to the successor (a repair or a restore came in
 * between). A seal that is there is written again: whoever wrote it may have died before it was
 * durable. The state lock must be held. Durable when it returns.
 */
export const sealFormer = (files: Files, places: Places, successor: LogHeader): void => {
  if (successor.manifest_sha256 !== null) return
  const epoch = logEpochs(files.list(places.wal)).filter((one) => one < successor.epoch).at(-1)
  if (epoch === undefined) return
  const seal = sealOf(epoch, successor)
  const path = places.log(epoch)
  try {
    const end = sealedAt(files, path, seal) ?? endAt(files, path, successor)
    if (end === undefined) return
    withFile(files, path, 'readwrite', (fd) => {
      if (files.fstat(fd).size > end + seal.length) files.truncate(fd, end)
      writeAll(files, fd, seal, end)
      files.syncData(fd)
    })
  } catch (error) {
    // A fold may have swept it meanwhile.
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

/** Temporary files of processes that died; whoever holds the state lock writes none here now. */
const sweepTemporaries = (files: Files, folder: string): void => {
  // That of a founding stays as long as its manifest: it tells that the founding was cut off.
  for (const name of files.list(folder).filter(isTemporary)) {
    const path = join(folder, name)
    if (files.stat(path)?.kind !== 'file') continue
    if (typeof headerIn(files, path)?.manifest_sha256 !== 'string') removeFile(files, path)
  }
}

/**
 * Begins a new log. The newest one must be read to its end, clean and durable, and the state lock
 * held. `committing` is called right before the rename that decides: from there on nobody knows
 * what a failure leaves.
 */
export const rotate = (
  files: Files, places: Places, generation: Generation, committing: () => void,
): void => {
  const { epoch, sequence, chain, binding: { storeId, format } } = generation
  sweepTemporaries(files, places.wal)
  const { header } = headerOf({
    storeId, epoch: epoch + 1, format, sequence, chain, manifest: null,
  })
  const temporary = writeTemporary(files, places.wal, encodeLogHeader(header))
  committing()
  files.rename(temporary, places.log(epoch + 1))
  syncDir(files, places.wal)
  sealFormer(files, places, header)
}

/** What a repair writes into a log: bits that are put right, and a tail that is cut off. */
import { join } from 'node:path'
import { syncDir, temporaryName, withFile, writeAll, type Files } from '../files.js'
import type { Mend } from '../log/mend.js'
import type { Problem } from '../types.js'
import { copyFile } from './copy.js'
import { note } from './repair-report.js'
import type { Site } from './use-case.js'

/**
 * Puts the bits back: afterwards the log is byte for byte what was written. A copy takes its place
 * by one rename, so that a crash leaves the flipped bit, which can be put right again, or none.
 */
export const writeMends = (
  { files, places }: Site, epoch: number, mends: readonly Mend[],
): Problem => {
  const temporary = join(places.wal, temporaryName())
  copyFile(files, places.log(epoch), temporary)
  withFile(files, temporary, 'readwrite', (fd) => {
    for (const { at, byte } of mends) writeAll(files, fd, Buffer.of(byte), at)
    files.sync(fd)
  })
  files.rename(temporary, places.log(epoch))
  syncDir(files, places.wal)
  return note('bits_mended',
    `${mends.length} untrue records of log ${epoch} had one flipped bit each, which was put right.`)
}

/** Cuts a log at `end`; durable when it returns. Throws disk errors. */
export const truncateTail = (files: Files, path: string, end: number): void =>
  withFile(files, path, 'readwrite', (fd) => {
    files.truncate(fd, end)
    files.sync(fd)
  })

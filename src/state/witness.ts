/** The witness log: whole lines, each synced before anyone relies on it. */
import { errnoOf, ioFailure, readWhole, withFile, writeAll, type Files } from './files.js'
import { fileBytesMax } from './limits.js'
import type { WitnessLog } from './types.js'

const wholeEnd = (bytes: Buffer): number => bytes.lastIndexOf(0x0a) + 1

export const witnessAt = (files: Files, path: string): WitnessLog => ({
  append: (line) => {
    if (line.includes('\n')) throw new TypeError('a witness line holds no newline')
    const bytes = readWhole(files, path, fileBytesMax.witness) ?? Buffer.alloc(0)
    const end = wholeEnd(bytes)
    try {
      withFile(files, path, 'lock', (fd) => {
        if (end < bytes.length) files.truncate(fd, end)
        writeAll(files, fd, Buffer.from(`${line}\n`), end)
        files.sync(fd)
      })
    } catch (error) {
      throw ioFailure(error, 'witness log')
    }
  },
  lines: () => {
    const bytes = readBytes(files, path)
    const end = wholeEnd(bytes)
    return end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n')
  },
  torn: () => {
    const bytes = readBytes(files, path)
    return wholeEnd(bytes) < bytes.length
  },
})

const readBytes = (files: Files, path: string): Buffer => {
  try {
    return readWhole(files, path, fileBytesMax.witness) ?? Buffer.alloc(0)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return Buffer.alloc(0)
    throw ioFailure(error, 'witness log')
  }
}

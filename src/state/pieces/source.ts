/** The sealed bytes of a stored file, read where they are wanted. */
import { errnoOf, ioFailure, readRange, type Files } from '../files.js'
import { missingArtifact } from '../artifact-folder.js'

/** An open stored file. */
export interface PieceSource {
  readonly size: number
  /** Fewer bytes where the file ends. */
  read(position: number, length: number): Buffer
  close(): void
}

/** Opens a stored file; `blocked` `evidence_missing` where there is none. */
export const openSource = (files: Files, path: string): PieceSource => {
  let fd: number | undefined
  try {
    fd = files.open(path, 'read')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw missingArtifact()
    throw ioFailure(error, 'artifact')
  }
  const { size } = files.fstat(fd)
  return {
    size,
    read: (position, length) => {
      if (fd === undefined) throw new TypeError('the artifact is closed')
      try {
        return readRange(files, fd, position, length)
      } catch (error) {
        throw ioFailure(error, 'artifact')
      }
    },
    close: () => {
      if (fd !== undefined) files.close(fd)
      fd = undefined
    },
  }
}

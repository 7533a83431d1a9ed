/** The disk of the machine, which is full at one moment. */
import { nodeFiles, type Files } from '../../../src/state/files.js'

/** A disk whose n-th write finds no room. */
export const fullAt = (at: number): Files => {
  let written = 0
  return {
    ...nodeFiles,
    write: (fd, bytes, position) => {
      written += 1
      if (written === at) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      return nodeFiles.write(fd, bytes, position)
    },
  }
}

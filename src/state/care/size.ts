/** How many bytes a state directory takes on disk. */
import { join } from 'node:path'
import { nodeFiles, type Files } from '../files.js'
import { placesOf } from '../paths.js'

/** Bytes of all files below a folder; links are not followed, and what is gone counts nothing. */
const bytesBelow = (files: Files, folder: string): number =>
  files.stat(folder)?.kind !== 'dir' ? 0 : files.list(folder).reduce((sum, name) => {
    const path = join(folder, name)
    const facts = files.stat(path)
    if (facts?.kind === 'dir') return sum + bytesBelow(files, path)
    return sum + (facts?.kind === 'file' ? facts.size : 0)
  }, 0)

/** Bytes of the records, the keyspace, the sealed content, and the copies aside. */
export const stateBytes = (dir: string, files: Files = nodeFiles): number => {
  const { wal, collections, artifacts, aside } = placesOf(dir)
  return [wal, collections, artifacts, aside]
    .reduce((sum, folder) => sum + bytesBelow(files, folder), 0)
}

// Where tests keep their files. What must be durable is tested on the disk. Elsewhere three
// processes would wait for the same disk and nothing else: memory will do, where there is enough.
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { treeDir } from './tree.js'

const bytesMin = 4 * 1024 ** 3

/** Whether a compiled test file is about what is durable. */
export const needsDisk = (file) =>
  ['state/', 'alpha/soak.'].some((part) => file.startsWith(`${treeDir}/test/${part}`))

/** Makes a folder in memory; null where there is none, or little room, or TMPDIR names another. */
export const folderInMemory = () => {
  if (process.env.TMPDIR !== undefined) return null
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    // A container may be allowed less than the machine has.
    const room = Math.min(bavail * bsize, freemem(), process.constrainedMemory() || Infinity)
    if (room < bytesMin) return null
    const folder = mkdtempSync('/dev/shm/sallyport-test-')
    // A database server that a test starts runs as nobody, where the test is root's.
    chmodSync(folder, 0o711)
    return folder
  } catch {
    return null
  }
}

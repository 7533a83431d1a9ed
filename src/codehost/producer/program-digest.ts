/**
 * SHA-256 of the programs that a producer stands on. Node alone has a hundred megabytes, and is
 * looked at when a publication is prepared, approved and run: one that was read whole in this
 * process, and is by all that the system tells of it the same file still, is not read again.
 */
import { lstatSync, type BigIntStats } from 'node:fs'
import { digestOfFile } from './inventory.js'

/** File systems tell times in steps: so long before this process a change is told from later ones. */
const settledMs = 2_000

/** Any change of a file's content, owner or mode is a later `ctime`, which nobody can set. */
const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join()

const known = new Map<string, { readonly identity: string, readonly sha256: string }>()

/**
 * SHA-256 of a regular file; null for anything else, no link followed.
 * @throws the system's own error where it cannot be read
 */
export const programDigest = (path: string): string | null => {
  const stat = lstatSync(path, { bigint: true })
  const identity = identityOf(stat)
  const before = known.get(path)
  if (before?.identity === identity) return before.sha256
  const found = digestOfFile(path)
  if (found === null) return null
  const isSettled = Number(stat.ctimeMs) < performance.timeOrigin - settledMs
  if (isSettled && identityOf(lstatSync(path, { bigint: true })) === identity) {
    known.set(path, { identity, sha256: found.sha256 })
  }
  return found.sha256
}

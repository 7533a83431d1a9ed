/**
 * SHA-256 of the programs that a producer stands on. Node alone has a hundred megabytes, and is
 * looked at when a publication is prepared, approved and run: one that was read whole in this
 * process, and is by all that the system tells of it the same file still, is not read again.
 */
import { lstatSync, type BigIntStats } from 'node:fs'
import { digestOfFile } from './inventory.js'

/** File systems tell times in steps: a change so long ago is told from later ones. */
const settledMs = 2_000

/** Any change of a file's content, owner or mode is a later `ctime`, which nobody can set. */
const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join()

const known = new Map<string, { readonly identity: string, readonly sha256: string }>()

/**
 * SHA-256 of a regular file; null for anything else, no link followed.
 * @param startedMs when this process began: only what had not changed for a while by then is kept
 * @throws the system's own error where it cannot be read
 */
export const programDigest = (
  path: string, startedMs: number = performance.timeOrigin,
): string | null => {
  const stat = lstatSync(path, { bigint: true })
  const identity = identityOf(stat)
  const before = known.get(path)
  if (before?.identity === identity) return before.sha256
  const found = digestOfFile(path)
  if (found === null) return null
  // A change from here on is of another identity, and is read.
  if (Number(stat.ctimeMs) < startedMs - settledMs) {
    known.set(path, { identity, sha256: found.sha256 })
  }
  return found.sha256
}

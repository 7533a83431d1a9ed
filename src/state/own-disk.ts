/** Where the kernel's locks can be relied on. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fail } from '../base/errors.js'
import { thisPlatform } from '../base/platform/this-platform.js'

const nearest = (path: string): string =>
  (existsSync(path) || dirname(path) === path ? path : nearest(dirname(path)))

/** What kind of shared file system a folder lies on, or would lie on; null where it is none. */
export const sharedKindOf = (folder: string): string | null =>
  thisPlatform.sharedKindOf(nearest(folder))

/**
 * Throws `failed` `lock_unavailable` where the system says that others may reach the same files
 * past its locks: two holders at once would each write over what the other has written.
 */
export const requireOwnDisk = (folder: string): void => {
  const kind = sharedKindOf(folder)
  if (kind === null) return
  throw fail.failed('lock_unavailable',
    `The folder lies on ${kind}, where a lock may hold for one machine or program alone.`, {
      reason: 'shared_disk', details: { file_system: kind },
      next: 'Put it on a local disk of this machine. See `sallyport help platforms`.',
    })
}

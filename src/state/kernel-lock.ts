/**
 * The kernel's own file lock (of the open file description on Linux, flock elsewhere). The kernel
 * frees it when its holder dies, however it dies, so a lock that can be taken belongs to nobody
 * alive. Only whole files are locked: a Mac has no lock of some bytes that belongs to an open file.
 * The add-on is loaded at first use and stays outside any bundle; when it cannot load there is no
 * weaker lock.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fail, type SallyportError } from '../base/errors.js'
import { thisPlatformRow } from '../base/platform/table.js'
import { thisPlatform } from '../base/platform/this-platform.js'
import { errnoOf } from './files.js'

/** How a file is locked: by one alone, or by many who keep that one out. */
export interface LockKind { readonly shared: boolean }

interface LockAddon {
  tryLock(fd: number, options: LockKind): boolean
  unlock(fd: number): void
}

let loaded: LockAddon | undefined

/** `failed` `lock_unavailable`: which machine this is, and what to do on it instead. */
const noLocks = (cause?: unknown): SallyportError => {
  const { id, name, standing, instead } = thisPlatformRow()
  if (standing === 'refused') {
    return fail.failed('lock_unavailable', `Sallyport writes nothing on this system: ${name}.`, {
      reason: id, cause, next: `${instead} See \`sallyport help platforms\`.`,
    })
  }
  return fail.failed('lock_unavailable', 'The kernel lock add-on cannot be loaded here.', {
    reason: 'add_on', cause,
    next: 'Install the package again on this platform; there is no weaker lock to fall back to.',
  })
}

/**
 * Loads the add-on once. Throws `failed` `lock_unavailable` where this machine cannot, and on
 * Windows, where it loads and nothing else would hold.
 */
export const lockAddon = (): LockAddon => {
  if (loaded !== undefined) return loaded
  if (thisPlatform.name === 'windows') throw noLocks()
  try {
    loaded = createRequire(import.meta.url)('fs-native-extensions') as LockAddon
    return loaded
  } catch (cause) {
    throw noLocks(cause)
  }
}

const alone: LockKind = { shared: false }

/**
 * Takes the lock of an already open file without waiting; one that it holds in the other kind is
 * changed, and may be lost where the system lets go of it first. Throws `failed`
 * `lock_unavailable` where the file cannot be locked at all.
 */
export const tryLockFd = (fd: number, kind = alone): boolean => {
  const addon = lockAddon()
  try {
    return addon.tryLock(fd, kind)
  } catch (cause) {
    if (['EACCES', 'EAGAIN', 'EWOULDBLOCK'].includes(errnoOf(cause))) return false
    throw fail.failed('lock_unavailable', 'This file system does not support kernel locks.', {
      next: 'Put the state directory on a local file system.', cause,
    })
  }
}

/** Gives the lock of an open file back. */
export const unlockFd = (fd: number): void => lockAddon().unlock(fd)

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

/** Throws `failed` `lock_unavailable` where no state can be made in a folder, which need not be. */
export const requireLocks = (folder: string): void => {
  requireOwnDisk(folder)
  lockAddon()
}

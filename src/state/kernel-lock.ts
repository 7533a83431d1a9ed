/**
 * The kernel's own file lock (open-file-description lock on Linux). The kernel frees it when its
 * holder dies, however it dies, so a lock that can be taken belongs to nobody alive. The add-on is
 * loaded at first use and stays outside any bundle; when it cannot load there is no weaker lock.
 */
import { createRequire } from 'node:module'
import { fail } from '../base/errors.js'
import { errnoOf } from './files.js'

interface LockAddon {
  tryLock(fd: number, options?: { readonly shared: boolean }): boolean
  tryLock(fd: number, offset: number, length: number): boolean
  unlock(fd: number, offset?: number, length?: number): void
}

let loaded: LockAddon | undefined

/** Loads the add-on once; `failed`/`lock_unavailable` when this machine cannot. */
export const lockAddon = (): LockAddon => {
  if (loaded !== undefined) return loaded
  try {
    loaded = createRequire(import.meta.url)('fs-native-extensions') as LockAddon
    return loaded
  } catch (cause) {
    throw fail.failed('lock_unavailable', 'The kernel lock add-on cannot be loaded here.', {
      next: 'Install the package again on this platform; there is no weaker lock to fall back to.',
      cause,
    })
  }
}

/** Takes the lock of an already open file without waiting. */
export const tryLockFd = (fd: number): boolean => tryLockRange(fd, 0, 0)

/** Takes the lock of some bytes of an open file without waiting; length 0 reaches to the end. */
export const tryLockRange = (fd: number, offset: number, length: number): boolean => {
  const addon = lockAddon()
  try {
    return addon.tryLock(fd, offset, length)
  } catch (cause) {
    if (['EACCES', 'EAGAIN', 'EWOULDBLOCK'].includes(errnoOf(cause))) return false
    throw fail.failed('lock_unavailable', 'This file system does not support kernel locks.', {
      next: 'Put the state directory on a local file system.', cause,
    })
  }
}

/** Gives the lock of an open file back. */
export const unlockFd = (fd: number): void => lockAddon().unlock(fd)

/** Gives the lock of some bytes of an open file back. */
export const unlockRange = (fd: number, offset: number, length: number): void =>
  lockAddon().unlock(fd, offset, length)

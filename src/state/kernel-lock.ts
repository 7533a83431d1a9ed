/**
 * The kernel's own file lock (open-file-description lock on Linux). The kernel frees it when its
 * holder dies, however it dies, so a lock that can be taken belongs to nobody alive. The add-on is
 * loaded at first use and stays outside any bundle; when it cannot load there is no weaker lock.
 */
import { createRequire } from 'node:module'
import { fail } from '../base/errors.js'
import { errnoOf, nodeFiles } from './files.js'

interface LockAddon {
  tryLock(fd: number): boolean
  unlock(fd: number): void
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

/** A lock that is held until `release`, or until this process ends. */
export interface KernelLock {
  readonly fd: number
  release(): void
}

/** Whether an open file is still the file at `path`. */
const isSameFile = (fd: number, path: string): boolean => {
  const [open, named] = [nodeFiles.fstat(fd), nodeFiles.stat(path)]
  return named !== undefined && named.ino === open.ino && named.dev === open.dev
}

const tryFd = (fd: number): boolean => {
  const addon = lockAddon()
  try {
    return addon.tryLock(fd)
  } catch (cause) {
    if (['EACCES', 'EAGAIN', 'EWOULDBLOCK'].includes(errnoOf(cause))) return false
    throw fail.failed('lock_unavailable', 'This file system does not support kernel locks.', {
      next: 'Put the state directory on a local file system.', cause,
    })
  }
}

const reopenTriesMax = 16

/**
 * Opens the file at `path` (made with mode 600 when missing, no link followed) and takes its
 * lock without waiting. Null when somebody else holds it. After locking, the locked file must
 * still be the one at `path`; otherwise it was replaced meanwhile and is tried again.
 */
export const tryLockFile = (path: string): KernelLock | null => {
  for (let tries = 0; tries < reopenTriesMax; tries += 1) {
    const fd = nodeFiles.open(path, 'lock')
    let keep = false
    try {
      if (!tryFd(fd)) return null
      keep = isSameFile(fd, path)
    } finally {
      if (!keep) nodeFiles.close(fd)
    }
    if (keep) return { fd, release: () => nodeFiles.close(fd) }
  }
  return null
}

/** Takes the lock of an already open file without waiting. */
export const tryLockFd = (fd: number): boolean => tryFd(fd)

/** Gives the lock of an open file back. */
export const unlockFd = (fd: number): void => lockAddon().unlock(fd)

/**
 * Files whose only meaning is the kernel lock on them: guards and lane places. Invariants:
 * - the lock belongs to the open file, so the kernel drops it when its process dies in any way;
 * - whoever holds the exclusive lock on the file that the path still names is the only one who may
 *   unlink that path, so nobody ever removes the file of a live holder;
 * - a lock on a file that the path no longer names is worth nothing: the inode is compared after
 *   locking.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { tryLockFd } from '../kernel-lock.js'

/** Mode of every file here: the owner alone. */
const fileMode = 0o600
const directoryMode = 0o700

const noFollow = constants.O_NOFOLLOW
const openOrCreate = constants.O_RDWR | constants.O_CREAT | noFollow
const openExisting = constants.O_RDWR | noFollow

/** How often a fresh file is tried again when a prober or a sweeper was quicker. */
const freshAttemptsMax = 50
const pauseMs = 1

/** A file held under an exclusive kernel lock. */
export interface HeldFile {
  readonly path: string
  /** The locked descriptor; the lock lasts as long as any duplicate of it is open. */
  readonly fd: number
  /** Gives the lock back and leaves the file. A second call does nothing. */
  release(): void
  /** Removes the file, then gives the lock back. A second call does nothing. */
  remove(): void
}

const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined

const open = (path: string, flags: number): number | null => {
  try {
    return openSync(path, flags, fileMode)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

const openCreating = (path: string): number => {
  const fd = open(path, openOrCreate)
  if (fd !== null) return fd
  mkdirSync(dirname(path), { recursive: true, mode: directoryMode })
  const second = open(path, openOrCreate)
  if (second === null) throw fail.failed('lock_file_vanished', 'A lock folder keeps vanishing.')
  return second
}

/** True while `path` still names the very file behind `fd`. */
export const isStill = (fd: number, path: string): boolean => {
  const named = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (!named) return false
  const opened = fstatSync(fd, { bigint: true })
  return named.ino === opened.ino && named.dev === opened.dev
}

const unlinkIfThere = (path: string): void => {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

const held = (fd: number, path: string): HeldFile => {
  let isOpen = true
  const release = (): void => {
    if (!isOpen) return
    isOpen = false
    closeSync(fd)
  }
  const remove = (): void => {
    if (!isOpen) return
    try {
      if (isStill(fd, path)) unlinkIfThere(path)
    } finally {
      release()
    }
  }
  return { path, fd, release, remove }
}

type Tried = HeldFile | 'busy' | 'replaced'

const lockOpened = (fd: number, path: string): Tried => {
  let result: Tried = 'busy'
  try {
    if (tryLockFd(fd)) result = isStill(fd, path) ? held(fd, path) : 'replaced'
  } finally {
    if (typeof result === 'string') closeSync(fd)
  }
  return result
}

/** Takes the exclusive lock of `path`, creating file and folder; null when somebody holds it. */
export const tryHoldFile = (path: string): HeldFile | null => {
  for (let attempt = 0; attempt < freshAttemptsMax; attempt += 1) {
    const tried = lockOpened(openCreating(path), path)
    if (tried === 'busy') return null
    if (tried !== 'replaced') return tried
  }
  throw fail.failed('lock_file_vanished', 'A lock file keeps vanishing.')
}

/**
 * As `tryHoldFile`, for a file that only probers and sweepers may touch for an instant: tries again
 * for a few milliseconds, the thread free meanwhile, before it answers null.
 */
export const holdFreshFile = async (path: string): Promise<HeldFile | null> => {
  for (let attempt = 0; attempt < freshAttemptsMax; attempt += 1) {
    const file = tryHoldFile(path)
    if (file) return file
    await systemClock.sleep(pauseMs)
  }
  return null
}

/** As `tryHoldFile`, but creates nothing: `absent` where there is no such file. */
export const tryHoldExisting = (path: string): HeldFile | 'absent' | 'busy' => {
  for (let attempt = 0; attempt < freshAttemptsMax; attempt += 1) {
    const fd = open(path, openExisting)
    if (fd === null) return 'absent'
    const tried = lockOpened(fd, path)
    if (tried !== 'replaced') return tried
  }
  return 'busy'
}

/** What a look at a lock file says. */
/** What is known of a file that a process may hold. */
export type Liveness = 'absent' | 'dead' | 'live'

/**
 * Whether somebody alive holds `path`. Creates nothing, removes nothing; it looks with a shared
 * lock, so that two who look at once do not take each other for the holder.
 */
export const probeFile = (path: string): Liveness => {
  const fd = open(path, openExisting)
  if (fd === null) return 'absent'
  try {
    return tryLockFd(fd, { shared: true }) ? 'dead' : 'live'
  } finally {
    closeSync(fd)
  }
}

/** Removes `path` when nobody holds it: only after its lock was obtained. True when it is gone. */
export const removeDeadFile = (path: string): boolean => {
  const fd = open(path, openExisting)
  if (fd === null) return true
  const tried = lockOpened(fd, path)
  if (tried === 'busy') return false
  if (tried === 'replaced') return false
  tried.remove()
  return true
}

/** A disk whose n-th changing call fails, stops the process, or is only counted. */
import type { Files } from '../../../src/state/files.js'
import type { LockMaker } from '../../../src/state/lock.js'

/** Calls that change the disk. */
export const changingCalls = [
  'create', 'write', 'sync', 'truncate', 'rename', 'link', 'unlink', 'mkdir', 'rmdir',
] as const
export type ChangingCall = (typeof changingCalls)[number]

/** Calls that only look. They are counted where a plan names them. */
export const readingCalls = ['open', 'read', 'stat', 'list', 'fstat'] as const
export type ReadingCall = (typeof readingCalls)[number]

/**
 * An error code to fail with, a short write, the end of the process, or a sync that fails and
 * leaves its pages clean, as Linux does: readable until the power goes, and written by no later
 * sync.
 */
export type Fault =
  'ENOSPC' | 'EDQUOT' | 'EIO' | 'EMFILE' | 'EACCES' | 'ENOMEM' | 'short' | 'stop' | 'lost'

/** A disk that can lose what was not synced without saying so. */
interface Forgetful {
  dropUnsynced(fd: number): void
}

/** Thrown by every call after the process has ended. */
export class Stopped extends Error {}

/** What was called, and which call fails. */
export interface Plan {
  calls: number
  /** Number of the call that fails, from 1. */
  readonly at?: number
  readonly fault?: Fault
  /** Only these calls are counted; without it, those that change the disk. */
  readonly only?: readonly (ChangingCall | ReadingCall)[]
  stopped: boolean
  readonly seen: string[]
}

/** A plan that counts; `at` and `fault` make it fail. */
export const plan = (
  at?: number, fault?: Fault, only?: readonly (ChangingCall | ReadingCall)[],
): Plan => ({
  calls: 0,
  stopped: false,
  seen: [],
  ...(at === undefined ? {} : { at }),
  ...(fault === undefined ? {} : { fault }),
  ...(only === undefined ? {} : { only }),
})

/** An error as the disk throws it. */
export const failure = (code: string): Error => Object.assign(new Error(code), { code })

const lose = (inner: Files, fd: number): never => {
  (inner as Files & Forgetful).dropUnsynced(fd)
  throw failure('EIO')
}

/** The same disk under a plan. */
export const faulty = (inner: Files, to: Plan): Files => {
  const alive = (): void => {
    if (to.stopped) throw new Stopped()
  }
  const counted: readonly string[] = to.only ?? changingCalls
  const step = (call: ChangingCall | ReadingCall, path: string): Fault | undefined => {
    alive()
    if (!counted.includes(call)) return undefined
    to.calls += 1
    to.seen.push(`${call} ${path}`)
    if (to.calls !== to.at || to.fault === undefined) return undefined
    if (to.fault === 'short' && call === 'write') return 'short'
    if (to.fault === 'stop') {
      to.stopped = true
      throw new Stopped()
    }
    if (to.fault === 'lost') return 'lost'
    throw Object.assign(failure(to.fault === 'short' ? 'EIO' : to.fault), { path })
  }
  const names = new Map<number, string>()
  const nameOf = (fd: number): string => names.get(fd) ?? '?'
  return {
    open: (path, intent) => {
      step(intent === 'create' || intent === 'scratch' ? 'create' : 'open', path)
      const fd = inner.open(path, intent)
      names.set(fd, path)
      return fd
    },
    close: (fd) => {
      names.delete(fd)
      inner.close(fd)
    },
    read: (fd, buffer, position) => {
      step('read', nameOf(fd))
      return inner.read(fd, buffer, position)
    },
    write: (fd, bytes, position) =>
      step('write', nameOf(fd)) === 'short'
        ? inner.write(fd, bytes.subarray(0, Math.floor(bytes.length / 2)), position)
        : inner.write(fd, bytes, position),
    sync: (fd) => {
      if (step('sync', nameOf(fd)) === 'lost') lose(inner, fd)
      inner.sync(fd)
    },
    syncData: (fd) => {
      if (step('sync', nameOf(fd)) === 'lost') lose(inner, fd)
      inner.syncData(fd)
    },
    truncate: (fd, size) => {
      step('truncate', nameOf(fd))
      inner.truncate(fd, size)
    },
    fstat: (fd) => {
      step('fstat', nameOf(fd))
      return inner.fstat(fd)
    },
    stat: (path) => {
      step('stat', path)
      return inner.stat(path)
    },
    list: (path) => {
      step('list', path)
      return inner.list(path)
    },
    rename: (from, to2) => {
      step('rename', to2)
      inner.rename(from, to2)
    },
    link: (from, to2) => {
      step('link', to2)
      inner.link(from, to2)
    },
    unlink: (path) => {
      step('unlink', path)
      inner.unlink(path)
    },
    mkdir: (path) => {
      step('mkdir', path)
      inner.mkdir(path)
    },
    rmdir: (path) => {
      step('rmdir', path)
      inner.rmdir(path)
    },
    touch: (path) => inner.touch(path),
    freeBytes: (path) => inner.freeBytes(path),
    inside: (fd, dir, name) => inner.inside(fd, dir, name),
  }
}

/** Locks for disks in memory: one holder at a time of each path, per returned maker. */
export const memoryLock = (): LockMaker => {
  const held = new Set<string>()
  return (path) => {
    let mine = false
    return {
      tryTake: () => {
        if (held.has(path)) return false
        held.add(path)
        mine = true
        return true
      },
      give: () => {
        if (mine) held.delete(path)
        mine = false
      },
      holder: () => null,
      close: () => undefined,
    }
  }
}

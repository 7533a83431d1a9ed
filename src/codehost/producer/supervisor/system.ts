/**
 * The few calls of the system that Node has not: through the FFI add-on, whose file is bound at
 * approval and loaded by its path. This is the only place that loads it.
 */
import { constants } from 'node:os'

/** Calls of the C library; each answers what the C library answers. */
export interface System {
  /** Descendants that lose their parent become children of this process (prctl). */
  becomeSubreaper(): boolean
  /** No core, no reading by others of the same user; nothing started gains rights (prctl). */
  harden(): boolean
  /** Marks a descriptor as closed in whatever is started. */
  closeOnExec(fd: number): boolean
  makeFifo(path: string): boolean
  /** Makes the buffer of an open pipe so large; it may stay as it is. */
  growPipe(fd: number, bytes: number): void
  /** Reaps one child of any kind: its number, `alive` where some live on, `none` without any. */
  reap(): number | 'alive' | 'none'
}

type Call = (...args: unknown[]) => number

interface Library {
  func(declaration: string): Call
}

interface Addon {
  load(path: null): Library
  errno(): number
}

const [setDumpable, setSubreaper, setNoNewPrivileges] = [4, 36, 38] as const
const [noHang, wall] = [1, 0x40000000] as const
const [setFdFlags, closeOnExec, setPipeSize] = [2, 1, 1031] as const
const ownerOnly = 0o600

/** Loads the add-on. Throws where it, or one of the calls, is not to be had. */
export const loadSystem = (addonPath: string): System => {
  const holder = { exports: {} }
  process.dlopen(holder, addonPath)
  const addon = holder.exports as Addon
  const library = addon.load(null)
  const long = 'unsigned long'
  const prctl = library.func(`int prctl(int, ${long}, ${long}, ${long}, ${long})`)
  const waitpid = library.func('int waitpid(int, _Out_ int *, int)')
  const mkfifo = library.func('int mkfifo(const char *, unsigned int)')
  const fcntl = library.func('int fcntl(int, int, ...)')
  return {
    becomeSubreaper: () => prctl(setSubreaper, 1, 0, 0, 0) === 0,
    harden: () => prctl(setDumpable, 0, 0, 0, 0) === 0
      && prctl(setNoNewPrivileges, 1, 0, 0, 0) === 0,
    closeOnExec: (fd) => fcntl(fd, setFdFlags, 'int', closeOnExec) === 0,
    makeFifo: (path) => mkfifo(path, ownerOnly) === 0,
    growPipe: (fd, bytes) => void fcntl(fd, setPipeSize, 'int', bytes),
    reap: () => {
      const pid = waitpid(-1, [0], noHang | wall)
      if (pid > 0) return pid
      // Anything but "no child" leaves open whether one lives.
      return pid === -1 && addon.errno() === constants.errno.ECHILD ? 'none' : 'alive'
    },
  }
}

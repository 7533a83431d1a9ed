/**
 * The one lock of a state directory. The kernel holds it; the bytes in the file only tell people
 * who had it last. Taking it never waits inside the kernel: it is polled until the bound.
 */
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { isoFromMs, type Clock } from '../base/clock.js'
import { fail, type SallyportError } from '../base/errors.js'
import { thisPlatform } from '../base/platform/this-platform.js'
import { nodeFiles, readWhole, type FileFacts, type Files } from './files.js'
import { fileBytesMax } from './limits.js'
import { KernelLine, LineFiles, type LockLine } from './lock-line.js'
import { requireOwnDisk, tryLockFd, unlockFd } from './kernel-lock.js'

const holderShape = v.strictObject({
  pid: v.number(),
  hostname: v.string(),
  boot_id: v.string(),
  started_at: v.string(),
  verb: v.string(),
})
/** Who holds the lock, for messages only. `started_at` is when this holder took it. */
type LockHolder = v.InferOutput<typeof holderShape>

/** A state lock that a process opens once and takes many times. */
export interface StateLock {
  /** Takes the lock without waiting; false when another process or store holds it. */
  tryTake(verb: string): boolean
  give(): void
  /** A place among those who wait; undefined where there is no order. */
  line?(first: boolean): LockLine | undefined
  /** Who wrote the file last, or null when that cannot be read. */
  holder(): LockHolder | null
  close(): void
}

/** Makes the lock of one state directory. */
export type LockMaker = (path: string, clock: Clock) => StateLock

const holderBytes = 512
/** How long one signature may stand for takes that follow each other. */
const signedMs = 250

let hostName: string | undefined
let bootId: string | undefined

/** Reads who wrote the lock file last; null when there is nobody or it cannot be read. */
export const readHolder = (files: Files, path: string): LockHolder | null => {
  try {
    const text = readWhole(files, path, fileBytesMax.lock)?.toString('utf8').trim() ?? ''
    const parsed = v.safeParse(holderShape, JSON.parse(text))
    return parsed.success ? parsed.output : null
  } catch {
    return null
  }
}

class FileLock implements StateLock {
  #open: { readonly fd: number; readonly ino: number; readonly dev: number } | undefined
  readonly #path: string
  readonly #clock: Clock
  /** The kernel gives one descriptor its lock twice: two transactions of one store must not. */
  #held = false
  /** Open files of the line, one set for each who waits; the spare one is kept for the next. */
  readonly #lines = new Set<LineFiles>()
  #spareLine: LineFiles | undefined
  #signed: { readonly verb: string; readonly mtimeMs: number; readonly untilMs: number } | undefined

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  tryTake(verb: string): boolean {
    if (this.#held) return false
    for (;;) {
      const { fd } = (this.#open ??= this.#opened())
      const taken = tryLockFd(fd)
      const named = nodeFiles.stat(this.#path)
      if (this.#isCurrent(named)) {
        if (taken && !this.#isSigned(named, verb)) this.#sign(fd, verb)
        this.#held = taken
        return taken
      }
      // The file at the path is another one by now (a restore): the old lock guards nothing.
      this.#let()
    }
  }

  #opened(): { readonly fd: number; readonly ino: number; readonly dev: number } {
    requireOwnDisk(dirname(this.#path))
    const fd = nodeFiles.open(this.#path, 'lock')
    const { ino, dev } = nodeFiles.fstat(fd)
    return { fd, ino, dev }
  }

  #isCurrent(named: FileFacts | undefined): boolean {
    return named?.ino === this.#open?.ino && named?.dev === this.#open?.dev
  }

  /** Whether the file still says what this holder would write; a burst of takes writes it once. */
  #isSigned(named: FileFacts | undefined, verb: string): boolean {
    const signed = this.#signed
    if (signed?.verb !== verb || signed.mtimeMs !== named?.mtimeMs) return false
    return this.#clock.monotonicMs() < signed.untilMs
  }

  #sign(fd: number, verb: string): void {
    const holder: LockHolder = {
      pid: process.pid,
      hostname: (hostName ??= hostname()),
      boot_id: (bootId ??= thisPlatform.bootId() ?? 'unknown'),
      started_at: isoFromMs(this.#clock.wallMs()),
      verb,
    }
    const text = `${JSON.stringify(holder)}\n`.padEnd(holderBytes - 1)
    try {
      nodeFiles.write(fd, Buffer.from(`${text}\n`), 0)
      const untilMs = this.#clock.monotonicMs() + signedMs
      this.#signed = { verb, mtimeMs: nodeFiles.fstat(fd).mtimeMs, untilMs }
    } catch {
      this.#signed = undefined
      // Only the message suffers: the kernel's lock is held.
    }
  }

  give(): void {
    this.#held = false
    if (this.#open !== undefined) unlockFd(this.#open.fd)
  }

  line(first: boolean): LockLine | undefined {
    const files = this.#spareLine
      ?? LineFiles.at(nodeFiles, join(dirname(this.#path), 'run', 'lock-line'))
    if (files === undefined) return undefined
    this.#spareLine = undefined
    this.#lines.add(files)
    return new KernelLine(files, first, () => this.#leftLine(files))
  }

  /** One set stays open: most takings find it. */
  #leftLine(files: LineFiles): void {
    if (this.#spareLine === undefined && this.#lines.has(files)) {
      this.#spareLine = files
      return
    }
    this.#lines.delete(files)
    files.close()
  }

  holder(): LockHolder | null {
    return readHolder(nodeFiles, this.#path)
  }

  close(): void {
    for (const files of this.#lines) files.close()
    this.#lines.clear()
    this.#spareLine = undefined
    this.#let()
  }

  #let(): void {
    this.#held = false
    if (this.#open === undefined) return
    nodeFiles.close(this.#open.fd)
    this.#open = undefined
    this.#signed = undefined
  }
}

/** The lock of the machine's own disk. */
export const kernelStateLock: LockMaker = (path, clock) => new FileLock(path, clock)

/**
 * The same for a file that lies in no state directory: whoever waits for it polls, and nobody
 * stands in line.
 */
export const fileLock: LockMaker = (path, clock) => {
  const lock = new FileLock(path, clock)
  return {
    tryTake: (by) => lock.tryTake(by), give: () => lock.give(),
    holder: () => lock.holder(), close: () => lock.close(),
  }
}

const pollFirstMs = 1
const pollMostMs = 25
/** Whoever is next looks often: while it sleeps nobody has the lock. */
const pollFrontMs = 2

/** How long a lock is waited for, and what ends the wait sooner. */
interface LockWait {
  readonly waitMs: number
  readonly clock: Clock
  /**
   * Its abort ends the wait. One that was aborted before the wait began does not: what is written
   * after a stop is how the stopped work ends, and that must not be lost.
   */
  readonly signal?: AbortSignal | undefined
  /** Goes before all others who wait: for what must stop things. */
  readonly first?: boolean
}

/** Takes the lock where nobody has it and nobody waits for it; false: `takeLock` stands in line. */
export const takeFreeLock = (lock: StateLock, verb: string, first: boolean): boolean => {
  const line = first ? undefined : lock.line?.(false)
  try {
    return line?.takeWhole() === true && lock.tryTake(verb)
  } finally {
    line?.leave()
  }
}

/**
 * Stands in line and polls until the lock is taken; the thread is free between two looks. Throws
 * `locked`/`lock_held` after `waitMs` milliseconds, `cancelled`/`lock_wait_stopped` when the
 * signal aborts meanwhile.
 */
export const takeLock = async (lock: StateLock, verb: string, wait: LockWait): Promise<void> => {
  const line = lock.line?.(wait.first === true)
  try {
    await taken(() => (line?.mayTry() ?? true) && lock.tryTake(verb), lock, line, wait)
  } finally {
    line?.leave()
  }
}

const taken = async (
  look: () => boolean, lock: StateLock, line: LockLine | undefined, wait: LockWait,
): Promise<void> => {
  if (look()) return
  const { waitMs, clock } = wait
  const signal = wait.signal?.aborted === true ? undefined : wait.signal
  const until = clock.monotonicMs() + waitMs
  for (let pause = pollFirstMs; ; pause = Math.min(pollMostMs, pause * 2)) {
    if (line?.atFront === true) pause = Math.min(pause, pollFrontMs)
    const left = until - clock.monotonicMs()
    if (left <= 0) throw heldError(lock.holder(), waitMs)
    await clock.sleep(Math.min(pause, left), signal).catch((cause: unknown) => {
      throw signal?.aborted === true ? stoppedError(cause) : cause
    })
    if (look()) return
  }
}

/** Codes of a lock that was not had: nothing was written. */
export const lockWaits: readonly string[] = ['lock_held', 'lock_wait_stopped']

/** `cancelled` `lock_wait_stopped`: a signal ended a wait before anything was written. */
export const stoppedError = (cause: unknown): SallyportError =>
  fail.cancelled('lock_wait_stopped', 'Stopped while waiting for the state lock.', {
    next: 'Run it again when the other process is done.', cause,
  })

const heldError = (holder: LockHolder | null, waitMs: number): Error => {
  const who = holder === null ? 'Another process' : `Process ${holder.pid} (${holder.verb})`
  return fail.locked('lock_held', `${who} holds the lock of the state directory.`, {
    next: 'Try again, or wait longer with --wait SECONDS.',
    details: holder === null ? { wait_ms: waitMs } : { wait_ms: waitMs, ...holder },
  })
}

/**
 * Ends a process while it holds the lock of a state directory, and knows that it did: a thread of
 * its own sees the lock in /proc/locks, stops the process at a moment inside the window, looks
 * again, and only then kills it. A process that had let go meanwhile runs on.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  isMainThread, parentPort, Worker, workerData,
} from 'node:worker_threads'

/** Which window of the process is meant, and how deep into it the signal goes. */
export interface Aim {
  readonly pid: number
  /** Windows that pass first. */
  readonly skip: number
  /** From the moment the lock was seen, milliseconds; Infinity only counts the windows. */
  readonly delayMs: number
}

/** What the watcher saw until the process was gone. */
export interface Seen {
  /** How long the process held the lock each time, milliseconds; the last may be cut short. */
  readonly windowsMs: readonly number[]
  /** Whether it was killed while it held the lock. */
  readonly isInside: boolean
}

/** Watches one lock file, one process at a time. */
export interface LockWatch {
  /** Ends at the kill, or soon after `gone` says that the process ended by itself. */
  aim(to: Aim, gone: Promise<unknown>): Promise<Seen>
  close(): Promise<void>
}

interface Order extends Aim {
  readonly gone: Int32Array
}

const tick = new Int32Array(new SharedArrayBuffer(4))
/** Much shorter than a window, and the processes keep the core to themselves. */
const lookMs = 0.05
const pause = (ms: number): void => void Atomics.wait(tick, 0, 0, ms)

/** Whether any process holds the lock of the file with this number. */
const lockLook = (inode: number): (() => boolean) => {
  const fd = openSync('/proc/locks', 'r')
  const bytes = Buffer.alloc(65_536)
  process.once('exit', () => closeSync(fd))
  const mark = `:${inode} 0 EOF`
  return () => bytes.toString('latin1', 0, readSync(fd, bytes, 0, bytes.length, 0)).includes(mark)
}

/** T once a process is stopped, Z or an empty text once it is gone. */
const stateOf = (pid: number): string => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2)[0] ?? ''
  } catch {
    return ''
  }
}

/** Stops the process; kills it if it holds the lock, else lets it run on. */
const strike = (pid: number, isHeld: () => boolean): boolean => {
  try {
    process.kill(pid, 'SIGSTOP')
    while (!['T', 'Z', ''].includes(stateOf(pid))) pause(lookMs)
    if (isHeld()) {
      process.kill(pid, 'SIGKILL')
      return true
    }
    process.kill(pid, 'SIGCONT')
  } catch {
    // It had ended by itself.
  }
  return false
}

const watch = ({ pid, skip, delayMs, gone }: Order, isHeld: () => boolean): Seen => {
  const windowsMs: number[] = []
  for (; Atomics.load(gone, 0) === 0; pause(lookMs)) {
    if (!isHeld()) continue
    const seenMs = performance.now()
    const isMeant = windowsMs.length >= skip && delayMs < Infinity
    while (isMeant && performance.now() < seenMs + delayMs && isHeld()) pause(lookMs)
    if (isMeant && strike(pid, isHeld)) {
      return { windowsMs: [...windowsMs, performance.now() - seenMs], isInside: true }
    }
    while (isHeld() && Atomics.load(gone, 0) === 0) pause(lookMs)
    windowsMs.push(performance.now() - seenMs)
  }
  return { windowsMs, isInside: false }
}

/** Watches the lock file at `path`, which must be there and keep its inode. */
export const lockWatch = (path: string): LockWatch => {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: statSync(path).ino })
  worker.unref()
  worker.setMaxListeners(0)
  return {
    aim: async (to, ended) => {
      const gone = new Int32Array(new SharedArrayBuffer(4))
      const answer = new Promise<Seen>((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
      })
      void ended.finally(() => Atomics.store(gone, 0, 1))
      worker.postMessage({ ...to, gone } satisfies Order)
      return answer
    },
    close: async () => void await worker.terminate(),
  }
}

if (!isMainThread && typeof workerData === 'number') {
  const isHeld = lockLook(workerData)
  parentPort?.on('message', (order: Order) => parentPort?.postMessage(watch(order, isHeld)))
}

/**
 * How often the state lock had to be waited for again, and how often it was given up (S-118). One
 * byte an event, appended to a file beside the log: counting must work exactly when the lock
 * cannot be had, and reading it must change nothing.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** `retry`: the lock was held and is asked for again; `failure`: it was given up. */
type LockEvent = 'retry' | 'failure'

const marks: Readonly<Record<LockEvent, string>> = { retry: 'r', failure: 'f' }

/** Name of the file in the state directory. */
const lockCountersFile = 'shots-lock-counters'

/** Both counters; zero where nothing was ever counted. */
interface LockCounters {
  readonly retries: number
  readonly failures: number
}

/** Counts one event in the state directory `dir`; a disk that takes no byte loses the count. */
export const countLockEvent = (dir: string, kind: LockEvent): void => {
  try {
    const file = openSync(join(dir, lockCountersFile), 'a', 0o600)
    try {
      writeSync(file, marks[kind])
    } finally {
      closeSync(file)
    }
  } catch {
    // The batch has its own failure to tell; a lost count must not hide it.
  }
}

/** Reads the counters of the state directory `dir`. */
export const readLockCounters = (dir: string): LockCounters => {
  let bytes = Buffer.alloc(0)
  try {
    bytes = readFileSync(join(dir, lockCountersFile))
  } catch {
    // Never counted.
  }
  let retries = 0
  let failures = 0
  for (const byte of bytes) {
    if (byte === 0x72) retries += 1
    else if (byte === 0x66) failures += 1
  }
  return { retries, failures }
}

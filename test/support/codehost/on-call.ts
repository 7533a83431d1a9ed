/**
 * Something happens while the machine's own disk is read: calls of one synchronous function of
 * `node:fs`, whoever makes them in this process, are shown to a test before they are made.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...args: never[]) => unknown
type Calls = Record<string, Call>

/**
 * Runs `work`; `before` is told the number of each call, from 1, and its arguments, and may act,
 * throw, or do nothing. What it does itself is not counted.
 */
export const onCall = async <T>(
  name: 'readSync' | 'openSync' | 'opendirSync' | 'fstatSync' | 'lstatSync' | 'writeSync'
    | 'fsyncSync' | 'fdatasyncSync' | 'linkSync',
  before: (number: number, args: readonly unknown[]) => void, work: () => Promise<T>,
): Promise<T> => {
  const disk = fs as unknown as Calls
  const own = disk[name] as (...args: unknown[]) => unknown
  let [calls, acting] = [0, false]
  disk[name] = (...args: unknown[]) => {
    if (!acting) {
      acting = true
      try {
        before((calls += 1), args)
      } finally {
        acting = false
      }
    }
    return own(...args)
  }
  syncBuiltinESMExports()
  try {
    return await work()
  } finally {
    disk[name] = own
    syncBuiltinESMExports()
  }
}

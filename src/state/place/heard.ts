/**
 * When the place of a shared state was heard last, by our clock: the time of an empty file, so that
 * whoever only reads can say how old what it shows is.
 */
import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One note a second is enough for people. */
const everyMs = 1_000

const pathOf = (runDir: string): string => join(runDir, 'heard')

/** ms since 1970; null where the place never was heard. */
export const heardAtMs = (runDir: string): number | null => {
  const facts = statSync(pathOf(runDir), { throwIfNoEntry: false })
  return facts === undefined ? null : Math.round(facts.mtimeMs)
}

/** Notes it. Never throws: it is for people alone. */
export const noteHeard = (runDir: string, nowMs: number): void => {
  try {
    const before = heardAtMs(runDir)
    if (before !== null && Math.abs(nowMs - before) < everyMs) return
    if (before === null) writeFileSync(pathOf(runDir), '', { mode: 0o600 })
    utimesSync(pathOf(runDir), nowMs / 1_000, nowMs / 1_000)
  } catch {
    // A full or closed folder: the age is told as it was.
  }
}

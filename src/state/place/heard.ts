/**
 * When the place of a shared state was heard last, by our clock: the time of a file, so that
 * whoever only reads can say how old what it shows is. In it stands how far the place's clock was
 * ahead of ours.
 */
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One note a second is enough for people, and for clocks that go apart by less than that. */
const everyMs = 1_000
/** Always as many bytes: nobody reads half of it. */
const columns = 16
/** A clock that is further off is no clock, ms. */
const apartMsMax = 10 * 365 * 86_400_000

const pathOf = (runDir: string): string => join(runDir, 'heard')

/** ms since 1970; null where the place never was heard. */
export const heardAtMs = (runDir: string): number | null => {
  const facts = statSync(pathOf(runDir), { throwIfNoEntry: false })
  return facts === undefined ? null : Math.round(facts.mtimeMs)
}

/** How far the place's clock was ahead of ours, ms; 0 where that is not known. */
export const heardApartMs = (runDir: string): number => {
  try {
    const told = Number(readFileSync(pathOf(runDir), 'utf8'))
    return Math.abs(told) <= apartMsMax ? told : 0
  } catch {
    return 0
  }
}

/** Notes it. Never throws: nothing is decided by it that is sent. */
export const noteHeard = (runDir: string, nowMs: number, apartMs: number): void => {
  try {
    const before = heardAtMs(runDir)
    const isClose = Math.abs(apartMs - heardApartMs(runDir)) < everyMs
    if (before !== null && isClose && Math.abs(nowMs - before) < everyMs) return
    writeFileSync(pathOf(runDir), String(Math.round(apartMs)).padStart(columns), {
      mode: 0o600, flag: before === null ? 'w' : 'r+',
    })
    utimesSync(pathOf(runDir), nowMs / 1_000, nowMs / 1_000)
  } catch {
    // A full or closed folder: it is told as it was.
  }
}

/** Files of an image folder that is known already: empty, with times as screenshots have them. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../src/base/clock.js'

const spacingMs = 30_000

/** Makes the folder with so many; the newest is of `ageMs` ago. */
export const makeImageFiles = (folder: string, count: number, ageMs: number): void => {
  mkdirSync(folder)
  const start = systemClock.wallMs() - count * spacingMs - ageMs
  for (let n = 0; n < count; n += 1) {
    const path = join(folder, `Screenshot ${String(n).padStart(7, '0')}.png`)
    writeFileSync(path, '')
    utimesSync(path, new Date(start + n * spacingMs), new Date(start + n * spacingMs))
  }
}

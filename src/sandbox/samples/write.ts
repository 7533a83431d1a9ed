import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errnoOf, fullDisk } from '../../base/errno.js'
import { fail } from '../../base/errors.js'
import { sampleScreens, type Sample } from './samples.js'

const writeOne = (path: string, { bytes, minutesAgo }: Sample, nowMs: number): void => {
  writeFileSync(path, bytes, { flag: 'wx', mode: 0o644 })
  const taken = new Date(nowMs - minutesAgo * 60_000)
  utimesSync(path, taken, taken)
}

/**
 * Writes the sample screenshots into a folder (made where it is missing), with times of the hour
 * before now; a file that is there is never replaced. Gives the paths. Throws `conflict`
 * `file_exists`, `failed` `samples_not_written`.
 */
export const writeSamples = (
  dir: string, nowMs: number,
): readonly { readonly path: string; readonly becomes: Sample['becomes'] }[] => {
  const folder = resolve(dir)
  try {
    mkdirSync(folder, { recursive: true })
    return sampleScreens().map((sample) => {
      const path = join(folder, sample.name)
      writeOne(path, sample, nowMs)
      return { path, becomes: sample.becomes }
    })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') {
      throw fail.conflict('file_exists', 'A file of a sample is there already; none is replaced.', {
        next: 'Name an empty folder.',
      })
    }
    throw fullDisk(error, 'writing the samples')
      ?? fail.failed('samples_not_written', 'The samples could not be written.', {
        reason: errnoOf(error), cause: error,
      })
  }
}

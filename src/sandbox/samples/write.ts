import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errnoOf, fullDisk } from '../../base/errno.js'
import { fail } from '../../base/errors.js'
import { jpegOf, pngOf } from './canvas.js'
import { boardScreen, editorScreen, inboxScreen } from './screens.js'

// Sample screenshots for trying the screenshot source out, made here: real sizes, few bytes. Among
// them are a repeat that only differs in bytes, one changed line of text and one plain copy, so
// that a scan shows what each becomes.

interface Sample {
  readonly name: string
  readonly bytes: Buffer
  /** How long before they are written it was taken, minutes. */
  readonly minutesAgo: number
  /** What a scan makes of it. */
  readonly becomes: 'observation' | 'suppressed repeat' | 'duplicate'
}

/** The files, oldest first. */
export const sampleScreens = (): readonly Sample[] => {
  const editor = pngOf(editorScreen(), 9)
  const board = pngOf(boardScreen(), 9)
  const changed = editorScreen({ 7: '  RETURN TOTAL(INSIDE.MAP((ROW) => ROW.AMOUNT))' })
  return [
    { name: 'editor.png', bytes: editor, minutesAgo: 50, becomes: 'observation' },
    {
      name: 'editor-again.png', bytes: pngOf(editorScreen(), 6), minutesAgo: 44,
      becomes: 'suppressed repeat',
    },
    {
      name: 'editor-one-line.png', bytes: pngOf(changed, 9), minutesAgo: 38, becomes: 'observation',
    },
    { name: 'inbox.jpg', bytes: jpegOf(inboxScreen(), 85), minutesAgo: 22, becomes: 'observation' },
    { name: 'board.png', bytes: board, minutesAgo: 9, becomes: 'observation' },
    { name: 'board-copy.png', bytes: board, minutesAgo: 5, becomes: 'duplicate' },
  ]
}

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

/** The measure on screens of text: what counts as a change, what as the same picture. */
import sharp from 'sharp'
import t from 'tap'
import { examine } from '../../src/images/examine.js'
import { compareFingerprints } from '../../src/images/fingerprint.js'
import { visualLimit } from '../../src/images/image-limits.js'
import type { Fingerprint } from '../../src/images/types.js'
import {
  edits, newScreen, paint, themes, withNoise, type Screen, type Theme,
} from '../support/images/edit-suite.js'

type Encode = (pixels: Buffer, screen: Screen) => Promise<Fingerprint>

const rawOf = (pixels: Buffer, { width, height }: Screen): ReturnType<typeof sharp> =>
  sharp(pixels, { raw: { width, height, channels: 3 } })

const fingerprintOf = (bytes: Buffer): Fingerprint => {
  const { fingerprint, reason } = examine(bytes)
  if (fingerprint === null) throw new TypeError(`not decoded: ${reason}`)
  return fingerprint
}

const png = (compressionLevel: number): Encode => async (pixels, screen) =>
  fingerprintOf(await rawOf(pixels, screen).png({ compressionLevel }).toBuffer())

const jpeg = (quality: number): Encode => async (pixels, screen) =>
  fingerprintOf(await rawOf(pixels, screen).jpeg({ quality }).toBuffer())

interface Tally {
  cases: number
  wrong: number
  /** The measure nearest to the limit, from the side it should be on. */
  nearest: number
}

interface Figures {
  readonly changes: Tally
  /** One word, counted apart: another word with as much ink in each cell lies below the limit. */
  readonly words: Tally
  readonly repeats: Tally
}

const newFigures = (): Figures => ({
  changes: { cases: 0, wrong: 0, nearest: 255 },
  words: { cases: 0, wrong: 0, nearest: 255 },
  repeats: { cases: 0, wrong: 0, nearest: 0 },
})

const count = (tally: Tally, changed: boolean, measure: number): void => {
  tally.cases += 1
  if (changed === (measure <= visualLimit)) tally.wrong += 1
  tally.nearest = changed ? Math.min(tally.nearest, measure) : Math.max(tally.nearest, measure)
}

const tryRepeats = async (figures: Figures, screen: Screen, jpegs: boolean): Promise<void> => {
  const pixels = paint(screen)
  const base = await png(1)(pixels, screen)
  const noisy = await png(1)(withNoise(pixels, 7), screen)
  const again = await png(4)(pixels, screen)
  for (const one of [noisy, again]) {
    count(figures.repeats, false, compareFingerprints(base, one).measure)
  }
  if (!jpegs) return
  const best = await jpeg(95)(pixels, screen)
  for (const quality of [80, 60]) {
    const worse = await jpeg(quality)(pixels, screen)
    count(figures.repeats, false, compareFingerprints(best, worse).measure)
  }
}

/** Edits of one screen; `words` more than the others, because they are the hardest. */
const tryEdits = async (
  figures: Figures, screen: Screen, encode: Encode, words: number,
): Promise<void> => {
  const base = await encode(paint(screen), screen)
  const changed = [
    ...Array.from({ length: words }, (_, i) => edits.word(screen, 31 + i)),
    edits.line(screen, 5), edits.message(screen, 6), edits.scroll(screen),
  ]
  for (const [index, one] of changed.entries()) {
    const { measure } = compareFingerprints(base, await encode(paint(one), one))
    count(index < words ? figures.words : figures.changes, true, measure)
  }
}

interface Plan {
  readonly width: number
  readonly height: number
  readonly themes: readonly Theme[]
  readonly words: number
}

const named = (...names: readonly string[]): readonly Theme[] =>
  themes.filter(({ name }) => names.includes(name))

const plans: readonly Plan[] = [
  { width: 1920, height: 1080, themes, words: 4 },
  { width: 2560, height: 1440, themes: named('faint', 'terminal'), words: 3 },
  { width: 3840, height: 2160, themes: named('faint', 'terminal'), words: 1 },
]

const allWords: Tally[] = []

for (const { width, height, themes: some, words } of plans) {
  t.test(`S-070 S-071 S-072 no repeat is missed and no line, message or scroll is merged at ${width}x${height}`, async (t) => {
    const figures = newFigures()
    for (const [index, theme] of some.entries()) {
      const screen = newScreen(width, height, theme, 100 + index)
      await tryRepeats(figures, screen, index === 0)
      await tryEdits(figures, screen, index === 0 ? jpeg(80) : png(1), words)
    }
    const { changes, words: single, repeats } = figures
    for (const [name, tally] of Object.entries(figures)) {
      const { wrong, cases, nearest } = tally as Tally
      t.comment(`${width}x${height} ${name}: ${wrong} of ${cases} wrong,`
        + ` nearest to the limit ${nearest.toFixed(2)}`)
    }
    allWords.push(single)
    t.ok(changes.cases > 0 && repeats.cases > 0)
    t.equal(changes.wrong, 0, 'false merges')
    t.equal(repeats.wrong, 0, 'missed repeats')
  })
}

t.test('S-071 no single changed word is merged at any size or theme', async (t) => {
  const total = (part: 'cases' | 'wrong'): number =>
    allWords.reduce((sum, tally) => sum + tally[part], 0)
  t.comment(`${total('wrong')} of ${total('cases')} changed words merged`)
  t.ok(total('cases') > 20)
  t.equal(total('wrong'), 0, 'false merges')
})

/**
 * Screens of real type with areas that do not count: an edit beside all areas must be another
 * picture, whatever they are, and one inside of an area alike outside of it.
 */
import sharp, { type JpegOptions } from 'sharp'
import { comparePictures, readPicture, type Picture } from '../../../src/images/compare.js'
import { examine } from '../../../src/images/examine.js'
import { compareOutside } from '../../../src/images/fingerprint.js'
import { visualLimit } from '../../../src/images/image-limits.js'
import { meet } from '../../../src/images/rect.js'
import type { Fingerprint, PixelRect } from '../../../src/images/types.js'
import { dice } from '../images/edit-suite.js'
import { draw, realEdits, sceneOf, type Drawn } from '../images/real-text.js'

type Dice = ReturnType<typeof dice>

/** What became of pairs of one kind. */
interface Counted {
  pairs: number
  merged: number
}

/** By format: edits beside areas, which are never merged, and inside of one, which always are. */
export interface IgnoredTextReport {
  readonly beside: Record<string, Counted>
  readonly inside: Record<string, Counted>
  /** What should not be: kind and seed. */
  readonly wrong: string[]
}

const areasMax = 16
/** Blocks of chroma are as coarse as this where it is sampled by half. */
const unit = 16

/** The smallest rectangle that holds what differs. */
const changeOf = (a: Drawn, b: Drawn): PixelRect => {
  const { width, height } = a
  let [left, top, right, bottom] = [width, height, 0, 0]
  for (let i = 0; i < width * height; i += 1) {
    if (a.rgba.readUInt32LE(i * 4) === b.rgba.readUInt32LE(i * 4)) continue
    const [x, y] = [i % width, Math.floor(i / width)]
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x + 1)
    bottom = Math.max(bottom, y + 1)
  }
  return { x: left, y: top, width: right - left, height: bottom - top }
}

const grown = ({ x, y, width, height }: PixelRect): PixelRect => {
  const floor = (value: number): number => Math.floor(value / unit) * unit
  const ceil = (value: number): number => Math.ceil(value / unit) * unit
  return {
    x: floor(x), y: floor(y),
    width: ceil(x + width) - floor(x), height: ceil(y + height) - floor(y),
  }
}

/** Areas anywhere but on a rectangle, some of them just beside it. */
const areasBeside = (next: Dice, { width, height }: Drawn, rect: PixelRect): PixelRect[] => {
  const areas: PixelRect[] = []
  const near = [
    { x: rect.x - 9, y: rect.y, width: 9, height: rect.height },
    { x: rect.x + rect.width, y: rect.y, width: 9, height: rect.height },
    { x: rect.x, y: rect.y - 9, width: rect.width, height: 9 },
    { x: rect.x, y: rect.y + rect.height, width: rect.width, height: 9 },
  ]
  for (let tries = 0; tries < 60; tries += 1) {
    const [w, h] = [1 + next(Math.floor(width / 5)), 1 + next(Math.floor(height / 5))]
    near.push({ x: next(width - w), y: next(height - h), width: w, height: h })
  }
  const screen = { x: 0, y: 0, width, height }
  for (const area of near) {
    const lies = area.x >= 0 && area.y >= 0
      && area.x + area.width <= screen.width && area.y + area.height <= screen.height
    if (lies && !meet(area, rect) && areas.length < areasMax) areas.push(area)
  }
  return areas
}

/** All of a picture but a rectangle. */
const allBut = ({ width, height }: Drawn, rect: PixelRect): PixelRect[] => [
  { x: 0, y: 0, width, height: rect.y },
  { x: 0, y: rect.y, width: rect.x, height: rect.height },
  {
    x: rect.x + rect.width, y: rect.y, width: width - rect.x - rect.width, height: rect.height,
  },
  {
    x: 0, y: rect.y + rect.height, width, height: height - rect.y - rect.height,
  },
].filter((area) => area.width > 0 && area.height > 0)

interface Read {
  readonly fingerprint: Fingerprint
  readonly picture: Picture | null
}

const read = (bytes: Buffer): Read => {
  const { fingerprint } = examine(bytes)
  if (fingerprint === null) throw new TypeError('not decoded')
  return { fingerprint, picture: readPicture(bytes) }
}

/** What the gate would say of two images, cells first. */
const verdictOf = (a: Read, b: Read, ignored: readonly PixelRect[]): string =>
  compareOutside(a.fingerprint, b.fingerprint, ignored).measure > visualLimit
    ? 'differs' : comparePictures(a.picture, b.picture, ignored).verdict

const encode = (drawn: Drawn, options: JpegOptions | null): Promise<Buffer> => {
  const { rgba, width, height } = drawn
  const raw = sharp(rgba, { raw: { width, height, channels: 4 } }).removeAlpha()
  return options === null
    ? raw.png({ compressionLevel: 3 }).toBuffer() : raw.jpeg(options).toBuffer()
}

const formats: readonly (readonly [string, JpegOptions | null, JpegOptions | null])[] = [
  ['png', null, null],
  ['jpeg, equal', { quality: 85 }, { quality: 85, progressive: true }],
  ['jpeg, unequal', { quality: 90, chromaSubsampling: '4:4:4' }, { quality: 80 }],
]

const count = (
  into: Record<string, Counted>, format: string, verdict: string,
): boolean => {
  const counted = into[format] ??= { pairs: 0, merged: 0 }
  counted.pairs += 1
  const merged = verdict !== 'differs'
  if (merged) counted.merged += 1
  return merged
}

const trySeed = async (report: IgnoredTextReport, seed: number): Promise<void> => {
  const next = dice(seed + 4_001)
  const scene = sceneOf(seed)
  const base = draw(scene)
  for (const [format, one, other] of formats) {
    const before = read(await encode(base, one))
    for (const [kind, edit] of Object.entries(realEdits)) {
      const changed = draw(edit(scene, next))
      const after = read(await encode(changed, other))
      const change = changeOf(base, changed)
      const beside = [areasBeside(next, base, format === 'png' ? change : grown(change))]
      if (format === 'png') beside.push(allBut(base, change))
      for (const areas of beside) {
        if (count(report.beside, format, verdictOf(before, after, areas))) {
          report.wrong.push(`merged ${format}: ${kind}, seed ${seed}`)
        }
      }
      const inside = verdictOf(before, after, [change])
      if (!count(report.inside, format, inside) || inside !== 'alike_outside') {
        report.wrong.push(`missed ${format}: ${kind} ${inside}, seed ${seed}`)
      }
    }
  }
}

/** Tries so many screens from a first one on. */
export const tryIgnoredText = async (rounds: number, first = 0): Promise<IgnoredTextReport> => {
  const report: IgnoredTextReport = { beside: {}, inside: {}, wrong: [] }
  for (let seed = first; seed < first + rounds; seed += 1) await trySeed(report, seed)
  return report
}

/** One line a format. */
export const linesOf = ({ beside, inside }: IgnoredTextReport): string[] =>
  Object.entries({ beside, inside }).flatMap(([where, all]) =>
    Object.entries(all).map(([format, { pairs, merged }]) =>
      `${format}, edited ${where} areas: merged ${merged} of ${pairs}`))

/** The long run. */
export const run = async (rounds: number): Promise<void> => {
  const report = await tryIgnoredText(rounds)
  process.stdout.write(`seeds 0 to ${rounds - 1}\n${linesOf(report).join('\n')}\n`)
  if (report.wrong.length > 0) throw new Error(report.wrong.slice(0, 40).join('\n'))
}

/**
 * Screens of real type against the whole gate: every changed one must be another picture, every
 * lossless or once rounded repeat the same. Seeds are numbers of screens: 0 to before the rounds.
 */
import jpegJs from 'jpeg-js'
import sharp, { type JpegOptions } from 'sharp'
import { comparePictures, readPicture } from '../../../src/images/compare.js'
import { examine } from '../../../src/images/examine.js'
import { compareFingerprints } from '../../../src/images/fingerprint.js'
import { visualLimit } from '../../../src/images/image-limits.js'
import { dice } from '../images/edit-suite.js'
import { writePng } from '../images/png-writer.js'
import { draw, realEdits, sceneOf, type Drawn } from '../images/real-text.js'

/** What became of pairs of one kind. */
export interface Pairs {
  pairs: number
  /** What cells alone would have merged. */
  cellsAlike: number
  merged: number
}

/** Counts by kind: changes by format and edit, repeats by how they were made. */
export interface RealTextReport {
  readonly changed: Record<string, Pairs>
  readonly repeats: Record<string, Pairs>
  /** Repeats that nobody promised to know: they are counted and taken in. */
  readonly others: Record<string, Pairs>
  /** What should not be: kind and seed. */
  readonly wrong: string[]
}

/** What the whole gate makes of two files: cells first, then both pictures. */
export const gateOf = (
  one: Buffer, other: Buffer,
): { readonly cellsAlike: boolean, readonly merged: boolean } => {
  const [a, b] = [examine(one), examine(other)]
  if (a.fingerprint === null || b.fingerprint === null) throw new TypeError('not decoded')
  const cellsAlike = compareFingerprints(a.fingerprint, b.fingerprint).measure <= visualLimit
  const verdict = cellsAlike
    ? comparePictures(readPicture(one), readPicture(other)).verdict : 'differs'
  return { cellsAlike, merged: verdict === 'same' || verdict === 'alike' }
}

const count = (into: Record<string, Pairs>, kind: string, one: Buffer, other: Buffer): boolean => {
  const { cellsAlike, merged } = gateOf(one, other)
  const pairs = into[kind] ??= { pairs: 0, cellsAlike: 0, merged: 0 }
  pairs.pairs += 1
  if (cellsAlike) pairs.cellsAlike += 1
  if (merged) pairs.merged += 1
  return merged
}

const raw = ({ rgba, width, height }: Drawn): ReturnType<typeof sharp> =>
  sharp(rgba, { raw: { width, height, channels: 4 } }).removeAlpha()

const png = (drawn: Drawn, progressive = false): Promise<Buffer> =>
  raw(drawn).png({ compressionLevel: 3, progressive }).toBuffer()

/** A screen as libjpeg-turbo encodes it. */
export const jpeg = (drawn: Drawn, options: JpegOptions): Promise<Buffer> =>
  raw(drawn).jpeg(options).toBuffer()

const jpegOfJs = ({ rgba, width, height }: Drawn, quality: number): Buffer =>
  Buffer.from(jpegJs.encode({ data: rgba, width, height }, quality).data)

const qualities = [75, 80, 85, 90, 95] as const
const samplings = ['4:2:0', '4:4:4'] as const

/** How a JPEG is made. */
export interface Setting {
  readonly quality: number
  readonly chromaSubsampling: string
}

const settingOf = (next: (below: number) => number): Setting => ({
  quality: qualities[next(qualities.length)]!, chromaSubsampling: samplings[next(2)]!,
})

/** Another quality, so that the tables differ. */
const otherThan = (next: (below: number) => number, { quality }: Setting): Setting => {
  const found = settingOf(next)
  return found.quality === quality ? { ...found, quality: quality === 95 ? 75 : 95 } : found
}

/** One that nearly has the same tables: of equal quality and other sampling, or one apart. */
const nearTo = (next: (below: number) => number, { quality, ...one }: Setting): Setting =>
  (next(2) === 0
    ? { quality, chromaSubsampling: one.chromaSubsampling === '4:2:0' ? '4:4:4' : '4:2:0' }
    : { quality: quality + 1, chromaSubsampling: samplings[next(2)]! })

const coarse = [60, 70, 74, 75, 80, 90] as const

const tryChanges = async (report: RealTextReport, seed: number): Promise<void> => {
  const next = dice(seed + 77)
  const scene = sceneOf(seed)
  const base = draw(scene)
  const [one, two] = [settingOf(next), settingOf(next)]
  const three = otherThan(next, two)
  const more = dice(seed + 5_077)
  const four = { ...settingOf(more), quality: coarse[more(coarse.length)]! }
  const [plain, equal, unequal, beside] = [
    await png(base), await jpeg(base, one), await jpeg(base, two), await jpeg(base, four),
  ]
  for (const [kind, edit] of Object.entries(realEdits)) {
    const changed = draw(edit(scene, next))
    if (changed.rgba.equals(base.rgba)) throw new TypeError(`${kind} changed nothing at ${seed}`)
    for (const [format, before, after] of [
      ['png', plain, await png(changed)], ['jpeg, equal', equal, await jpeg(changed, one)],
      ['jpeg, unequal', unequal, await jpeg(changed, three)],
      ['jpeg, near', beside, await jpeg(changed, nearTo(more, four))],
    ] as const) {
      const merged = count(report.changed, `${format}: ${kind}`, before, after)
      if (merged) report.wrong.push(`merged ${format}: ${kind}, seed ${seed}`)
    }
  }
}

/** Up to two levels on every channel, both ways between the two. */
const noisy = (drawn: Drawn, seed: number): Drawn => {
  const next = dice(seed)
  const rgba = Buffer.from(drawn.rgba)
  for (let i = 0; i < rgba.length; i += 1) {
    if (i % 4 !== 3) rgba[i] = Math.min(255, Math.max(0, rgba[i]! + next(5) - 2))
  }
  return { ...drawn, rgba }
}

/** Null where there are more colours than a palette holds. */
const palettePng = ({ rgba, width, height }: Drawn): Buffer | null => {
  const colours = new Map<number, number>()
  const keyAt = (i: number): number => rgba.readUIntBE(i * 4, 3)
  for (let i = 0; i < width * height; i += 1) {
    if (!colours.has(keyAt(i))) colours.set(keyAt(i), colours.size)
  }
  if (colours.size > 256) return null
  const palette = Uint8Array.from(
    [...colours.keys()].flatMap((key) => [key >> 16, (key >> 8) & 255, key & 255]))
  return writePng({
    width, height, depth: 8, colour: 3, palette,
    sample: (x, y) => colours.get(keyAt(y * width + x))!,
  })
}

const rgbaPng = ({ rgba, width, height }: Drawn, seed: number): Buffer => writePng({
  width, height, depth: 8, colour: 6, filter: (y) => (y + seed) % 5,
  sample: (x, y, channel) => rgba[(y * width + x) * 4 + channel]!,
})

/** With a comment in front of everything else. */
const noted = (bytes: Buffer): Buffer => Buffer.concat([
  bytes.subarray(0, 2), Buffer.from([0xff, 0xfe, 0, 6, 1, 2, 3, 4]), bytes.subarray(2),
])

const tryRepeats = async (report: RealTextReport, seed: number): Promise<void> => {
  const next = dice(seed + 991)
  const base = draw(sceneOf(seed))
  const plain = await png(base)
  const one = settingOf(next)
  const two = otherThan(next, one)
  const file = await jpeg(base, one)
  const js = one.quality === 95 ? 78 : 93
  for (const [kind, before, after] of [
    ['png: interlaced', plain, await png(base, true)], ['png: palette', plain, palettePng(base)],
    ['png: RGBA, other filters', plain, rgbaPng(base, seed)],
    ['png: noise of two levels', plain, await png(noisy(base, seed))],
    ['jpeg: progressive', file, await jpeg(base, { ...one, progressive: true })],
    ['jpeg: not optimised', file, await jpeg(base, { ...one, optimiseCoding: false })],
    ['jpeg: other metadata', file, noted(file)],
    ['jpeg: other quality', file, await jpeg(base, two)],
    ['jpeg: other encoder', file, jpegOfJs(base, js)],
  ] as const) {
    if (after !== null && !count(report.repeats, kind, before, after)) {
      report.wrong.push(`missed ${kind}, seed ${seed}`)
    }
  }
  const decoded = await sharp(file).ensureAlpha().raw().toBuffer()
  for (const [kind, before, after] of [
    ['jpeg: second generation', file, await jpeg({ ...base, rgba: decoded }, two)],
    ['jpeg: trellis', file, await jpeg(base, { ...one, mozjpeg: true })],
    ['jpeg: other encoder, same tables',
      await jpeg(base, { ...one, chromaSubsampling: '4:4:4' }), jpegOfJs(base, one.quality)],
  ] as const) count(report.others, kind, before, after)
}

/** Tries so many screens from a first one on. */
export const tryRealText = async (rounds: number, first = 0): Promise<RealTextReport> => {
  const report: RealTextReport = { changed: {}, repeats: {}, others: {}, wrong: [] }
  for (let seed = first; seed < first + rounds; seed += 1) {
    await tryChanges(report, seed)
    await tryRepeats(report, seed)
  }
  return report
}

/** One line a kind, and the sums. */
export const linesOf = ({ changed, repeats, others }: RealTextReport): string[] => {
  const sum = (all: Record<string, Pairs>, part: keyof Pairs): number =>
    Object.values(all).reduce((total, one) => total + one[part], 0)
  const line = (kind: string, { pairs, cellsAlike, merged }: Pairs): string =>
    `${kind}: merged ${merged} of ${pairs}, alike by cells ${cellsAlike}`
  return [
    ...[changed, repeats, others].flatMap((all) =>
      Object.entries(all).map(([kind, pairs]) => line(kind, pairs))),
    `changed: merged ${sum(changed, 'merged')} of ${sum(changed, 'pairs')},`
    + ` cells alone would have merged ${sum(changed, 'cellsAlike')}`,
    `repeats: missed ${sum(repeats, 'pairs') - sum(repeats, 'merged')} of ${sum(repeats, 'pairs')}`,
  ]
}

/** The long run. */
export const run = async (rounds: number): Promise<void> => {
  const report = await tryRealText(rounds)
  process.stdout.write(`seeds 0 to ${rounds - 1}\n${linesOf(report).join('\n')}\n`)
  if (report.wrong.length > 0) throw new Error(report.wrong.slice(0, 40).join('\n'))
}

/**
 * One changed digit in small, faint type between two JPEGs of equal or nearly equal quality: every
 * pair must be two pictures, and every repeat at the settings that are promised one. Contrasts are
 * 16 to 47 levels. Seeds are numbers of screens: 0 to before the rounds.
 */
import { dice } from '../images/edit-suite.js'
import { draw, realEdits, sceneOf, type Drawn, type Scene } from '../images/real-text.js'
import { gateOf, jpeg, type Setting } from './real-text.js'

/** What became of pairs of one kind; `lost`: the encoder itself left nothing of the change. */
interface Told {
  pairs: number
  merged: number
  lost: number
}

/** Counts by kind of setting, and what should not be. */
export interface EqualQualityReport {
  readonly changed: Record<string, Told>
  readonly repeats: Record<string, Told>
  readonly wrong: string[]
}

type Dice = ReturnType<typeof dice>

const samplings = ['4:2:0', '4:4:4'] as const
const grey = (level: number): string => `#${level.toString(16).padStart(2, '0').repeat(3)}`

/** A screen of small type in one faint grey. */
const faintScene = (seed: number, next: Dice): Scene => {
  const contrast = 16 + next(32)
  const isLight = next(2) === 0
  const ground = isLight ? 255 - next(20) : 20 + next(30)
  const ink = grey(isLight ? ground - contrast : ground + contrast)
  return {
    ...sceneOf(seed), ink, ground: grey(ground), accent: ink, badge: ink,
    size: [9, 11, 12, 14][next(4)]!, scale: 1,
  }
}

const of = (quality: number, next: Dice): Setting =>
  ({ quality, chromaSubsampling: samplings[next(2)]! })

type Pair = readonly [Setting, Setting]

const otherSampling = (quality: number): Pair =>
  [{ quality, chromaSubsampling: '4:2:0' }, { quality, chromaSubsampling: '4:4:4' }]

/** Settings under which a changed digit must be seen. */
const changes: Readonly<Record<string, (next: Dice) => Pair>> = {
  'equal quality, other sampling': (next) => otherSampling(60 + next(36)),
  '60 and 61, 74 and 75': (next) => {
    const quality = [60, 74][next(2)]!
    return [of(quality, next), of(quality + 1, next)]
  },
  'up to four apart': (next) => {
    const quality = 60 + next(32)
    return [of(quality, next), of(quality + 1 + next(4), next)]
  },
  'any two': (next) => [of(60 + next(36), next), of(60 + next(36), next)],
}

const spaced = [75, 80, 85, 90, 95] as const

/** Settings under which a repeat must be known again. */
const promised: Readonly<Record<string, (next: Dice) => Pair>> = {
  'equal quality, other sampling': (next) => otherSampling(60 + next(36)),
  '75 and above, one apart': (next) => {
    const quality = 75 + next(20)
    return [of(quality, next), of(quality + 1, next)]
  },
  '75 and above, spaced': (next) => {
    const at = next(spaced.length)
    return [of(spaced[at]!, next), of(spaced[(at + 1 + next(4)) % spaced.length]!, next)]
  },
}

const countOf = (into: Record<string, Told>, kind: string): Told =>
  into[kind] ??= { pairs: 0, merged: 0, lost: 0 }

const tryChange = async (
  report: EqualQualityReport, kind: string, [base, changed]: readonly [Drawn, Drawn],
  [one, two]: Pair,
): Promise<boolean> => {
  const told = countOf(report.changed, kind)
  told.pairs += 1
  const before = await jpeg(base, one)
  if (!gateOf(before, await jpeg(changed, two)).merged) return false
  if (before.equals(await jpeg(changed, one))) told.lost += 1
  else told.merged += 1
  return told.merged > 0
}

const trySeed = async (report: EqualQualityReport, seed: number): Promise<void> => {
  const next = dice(seed * 31 + 7)
  const scene = faintScene(seed, next)
  const base = draw(scene)
  for (const [kind, settings] of Object.entries(changes)) {
    for (let time = 0; time < 4; time += 1) {
      const pair = settings(next)
      const changed = draw(realEdits['digit']!(scene, next))
      if (await tryChange(report, kind, [base, changed], pair)) {
        report.wrong.push(`merged ${kind}, seed ${seed}: ${pair.map((p) => p.quality).join('/')}`)
      }
    }
  }
  for (const [kind, settings] of Object.entries(promised)) {
    const [one, two] = settings(next)
    const told = countOf(report.repeats, kind)
    told.pairs += 1
    if (gateOf(await jpeg(base, one), await jpeg(base, two)).merged) told.merged += 1
    else report.wrong.push(`missed ${kind}, seed ${seed}: ${one.quality}/${two.quality}`)
  }
}

/** Tries so many screens from a first one on: sixteen changes and three repeats of each. */
export const tryEqualQuality = async (rounds: number, first = 0): Promise<EqualQualityReport> => {
  const report: EqualQualityReport = { changed: {}, repeats: {}, wrong: [] }
  for (let seed = first; seed < first + rounds; seed += 1) await trySeed(report, seed)
  return report
}

/** One line a kind. */
export const linesOf = ({ changed, repeats }: EqualQualityReport): string[] => [
  ...Object.entries(changed).map(([kind, { pairs, merged, lost }]) =>
    `one digit, ${kind}: merged ${merged} of ${pairs}`
    + (lost === 0 ? '' : `; in ${lost} more the encoder left nothing of it`)),
  ...Object.entries(repeats).map(([kind, { pairs, merged }]) =>
    `repeats, ${kind}: missed ${pairs - merged} of ${pairs}`),
]

/** The long run; 600 screens are 9,600 changed digits. */
export const usual = 600

/** The long run. */
export const run = async (rounds: number): Promise<void> => {
  const report = await tryEqualQuality(rounds)
  process.stdout.write(`${linesOf(report).join('\n')}\nviolations: ${report.wrong.length}\n`)
  if (report.wrong.length > 0) throw new Error(report.wrong.slice(0, 40).join('\n'))
}

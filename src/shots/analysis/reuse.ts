/**
 * An image that repeats one which was described takes its analysis and is not sent. The sketches of
 * what was described say which few look near; then the gate's own rule decides, on the two whole
 * files as they are: a fingerprint that is near, and pixels or coefficients that say so, outside of
 * ignored areas. The record judges every gate of a first analysis once more, and the source.
 */
import { compareOutside } from '../../images/fingerprint.js'
import { visualLimit } from '../../images/image-limits.js'
import { sketchOf, sketchesApart, type Sketch } from '../../images/sketch.js'
import { outsideOf } from '../../images/rect.js'
import type { Fingerprint, PixelRect } from '../../images/types.js'
import type { SlotSetup } from '../../gateway/setup.js'
import { nowIso } from '../../governance/context.js'
import type { Tx, View } from '../../state/types.js'
import { analysisPromptVersion, analysisSchemaVersion, shotLimits } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { transactCounted } from '../locked.js'
import { configuredModel } from '../observations/as-of-now.js'
import { takeObservations } from '../observations/find.js'
import { putObservation } from '../observations/observation-store.js'
import { shotCollections as c, type Observation } from '../observations/observation-rows.js'
import { isMerging } from '../scan/gate.js'
import type { Examiner } from '../scan/types.js'
import { reusesAnalyses, savedSettings } from '../source/settings.js'
import { ignoredAsTaken, isDescribed, mayRepeat, type Described } from './described.js'
import { rowRepeating } from './outcome.js'
import { isStillThere, readyNow, type ReadyImage } from './privacy.js'
import { admit, requireSource, termsOf, type Attempt } from './send-image.js'
import { keepSketches, readSketches } from './sketches.js'

/** An image that another one was found to repeat, and its file as it was read for that. */
export interface Repeated {
  readonly row: Observation
  readonly source: ReadyImage['source']
}

/** The described image as the record finds it; null where it is none any more. */
const describedNow = (
  ctx: ShotsContext, tx: Tx, { row: { observation_id: id }, source }: Repeated, row: Observation,
  setup: SlotSetup,
): Described | null => {
  const other = tx.get(c.observations, id)
  if (other === undefined || !reusesAnalyses(savedSettings(tx))) return null
  if (!mayRepeat(row, other) || ignoredAsTaken(tx, row) === undefined) return null
  return isDescribed(ctx, tx, other, setup) && isStillThere(tx, other.root, source) ? other : null
}

/** Which of the described images count. */
interface Known {
  /** Only those captured before, ISO text. */
  readonly before?: string
  /** Most that count, the newest captures first; all of a pass where it is left out. */
  readonly most?: number
}

/** The described images of one folder or device. */
interface DescribedPlace {
  /** Newest first. */
  readonly rows: Observation[]
  readonly sketches: Map<string, Sketch>
  /** Hashes of those sketches that were kept before. */
  readonly kept: ReadonlySet<string>
}

/** What one pass knows of the images that were described. */
export class DescribedBefore {
  readonly #ctx: ShotsContext
  readonly #examiner: Examiner
  readonly #known: Known
  /** By digest of the folder or device; looked up for the first image of it that asks. */
  readonly #places = new Map<string, DescribedPlace>()
  #looks: number = shotLimits.sketchedAgainMax

  constructor(ctx: ShotsContext, examiner: Examiner, known: Known = {}) {
    this.#ctx = ctx
    this.#examiner = examiner
    this.#known = known
  }

  /** Whether every described image could be looked at, of those that nothing was kept of. */
  get isWhole(): boolean {
    return this.#looks > 0
  }

  /**
   * Whether the image took the analysis of one that it repeats: never where that is switched off.
   * Throws what keeps an image from being claimed: `blocked`, `budget`, `conflict`, `locked`.
   */
  async take(attempt: Attempt): Promise<boolean> {
    const ctx = this.#ctx
    if (!reusesAnalyses(savedSettings(ctx.gov.store.read()))) return false
    const repeated = await this.find(attempt)
    if (repeated === null) return false
    await ctx.gov.observer.at('analyze.repeated')
    const terms = termsOf(ctx, ctx.gov.store.read())
    return transactCounted(ctx.gov, 'shots analyze', (tx) => {
      const { setup, row } = admit(attempt, terms, tx)
      requireSource(attempt, tx)
      const described = describedNow(ctx, tx, repeated, row, setup)
      if (described === null) return false
      const now = nowIso(ctx.gov)
      putObservation(tx, now, rowRepeating(row, described, now))
      return true
    })
  }

  /** An image that was described in this pass. */
  add(row: Observation, fingerprint: Fingerprint | null): void {
    const place = this.#places.get(row.root_digest)
    if (fingerprint === null || place === undefined) return
    place.rows.unshift(row)
    place.sketches.set(row.sha256, sketchOf(fingerprint))
  }

  /** Keeps the sketches for the next pass, where there are other ones than it began with. */
  async keep(): Promise<void> {
    for (const [digest, { rows, sketches, kept: before }] of this.#places) {
      const kept = new Map<string, Sketch>()
      for (const { sha256 } of rows.slice(0, shotLimits.describedMax)) {
        const sketch = sketches.get(sha256)
        if (sketch !== undefined) kept.set(sha256, sketch)
      }
      if ([...kept.keys()].every((sha256) => before.has(sha256))) continue
      await keepSketches(this.#ctx, digest, kept)
    }
  }

  /**
   * The described image that one repeats, by their files as they are now; null where none. With a
   * region: the one that it repeats there, whatever else is to be seen.
   */
  async find(
    { row, image }: Pick<Attempt, 'row' | 'image'>, region: PixelRect | null = null,
  ): Promise<Repeated | null> {
    const { fingerprint } = image
    const view = this.#ctx.gov.store.read()
    const ignored = ignoredAsTaken(view, row)
    if (fingerprint === null || ignored === undefined) return null
    const rects = [
      ...ignored?.rects ?? [], ...region === null ? [] : outsideOf(region, fingerprint),
    ]
    const mine = sketchOf(fingerprint)
    const near: { readonly other: Observation, readonly apart: number }[] = []
    const { rows, sketches } = this.#placeOf(view, row.root_digest)
    const { most } = this.#known
    for (const other of most === undefined ? [...rows] : newestOf(rows, most)) {
      if (other.observation_id === row.observation_id || !mayRepeat(row, other)) continue
      const sketch = sketches.get(other.sha256) ?? await this.#lookAgain(other, sketches)
      const apart = sketch === null ? null : sketchesApart(mine, sketch, rects)
      if (apart !== null) near.push({ other, apart })
    }
    near.sort((a, b) => a.apart - b.apart)
    for (const { other } of near.slice(0, shotLimits.comparedMax)) {
      const repeated = await this.#confirm(image, fingerprint, other, rects)
      if (repeated !== null) return repeated
    }
    return null
  }

  #placeOf(view: View, digest: string): DescribedPlace {
    const known = this.#places.get(digest)
    if (known !== undefined) return known
    const sketches = readSketches(this.#ctx, view, digest)
    const place = {
      rows: describedRows(view, digest, this.#known.before), sketches,
      kept: new Set(sketches.keys()),
    }
    this.#places.set(digest, place)
    return place
  }

  /** The sketch of one of which none is kept; some in each pass, so that none takes long. */
  async #lookAgain(row: Observation, sketches: Map<string, Sketch>): Promise<Sketch | null> {
    if (this.#looks === 0 || this.#ctx.signal.aborted) return null
    this.#looks -= 1
    const fingerprint = await this.#fingerprintOf(await readyNow(this.#ctx, row))
    if (fingerprint === null) return null
    const sketch = sketchOf(fingerprint)
    sketches.set(row.sha256, sketch)
    return sketch
  }

  async #confirm(
    { bytes }: ReadyImage, fingerprint: Fingerprint, row: Observation, rects: readonly PixelRect[],
  ): Promise<Repeated | null> {
    const image = await readyNow(this.#ctx, row)
    const other = await this.#fingerprintOf(image)
    if (image === null || other === null) return null
    const { comparable, measure } = compareOutside(other, fingerprint, rects)
    if (!comparable || measure > visualLimit) return null
    const standing = { sha256: row.sha256, bytes: image.bytes }
    const { verdict } = await this.#examiner.compare({ bytes, standing, ignored: rects })
    return isMerging(verdict) ? { row, source: image.source } : null
  }

  async #fingerprintOf(image: ReadyImage | null): Promise<Fingerprint | null> {
    return image === null ? null : (await this.#examiner.examine(image.bytes)).fingerprint
  }
}

const newestOf = (rows: readonly Observation[], most: number): Observation[] =>
  [...rows].sort((a, b) => (a.captured_at < b.captured_at ? 1 : -1)).slice(0, most)

/** The newest described images of a folder, as far as counters say; each is judged when meant. */
const describedRows = (view: View, folderDigest: string, before?: string): Observation[] => {
  const model = configuredModel(view)
  return takeObservations(view, {
    ...(before === undefined ? {} : { until: before }),
    statuses: ['succeeded'], folderDigest, newestFirst: true,
    meant: (key) => key.reused === undefined && key.classification === null && key.model === model
      && key.prompt_version === analysisPromptVersion
      && key.schema_version === analysisSchemaVersion,
  }, shotLimits.describedMax)
}

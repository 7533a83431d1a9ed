/**
 * Counting the requests that an analysis would make for images, with one way of spending: by the
 * rules of the analysis itself, over what it would know by then. It sends and writes nothing.
 */
import type { Fingerprint } from '../../images/types.js'
import { gatewayCollection, gatewayRouteId } from '../../gateway/setup.js'
import { isDescribed } from '../analysis/described.js'
import type { ReadyImage } from '../analysis/privacy.js'
import { DescribedBefore } from '../analysis/reuse.js'
import { Settling, standingInRows, type SettledRow } from '../analysis/settling.js'
import { shotLimits } from '../constants.js'
import type { ShotsContext } from '../context.js'
import type { Observation } from '../observations/observation-rows.js'
import type { Examiner } from '../scan/types.js'

/** How requests are counted. */
interface Paying {
  readonly ctx: ShotsContext
  readonly examiner: Examiner
  /** Only what was described of earlier captures counts, ISO text; all where it is left out. */
  readonly before?: string
  readonly reuses: boolean
  readonly settleSeconds: number | null
  readonly fingerprints: Map<string, Fingerprint | null>
  /** Which rows may stand for others now; left out where it is as if none was looked at. */
  readonly mayStandNow?: (row: Observation) => boolean
}

/** What an analysis would do with an image. */
type Needed = 'request' | 'repeat' | 'held'

/** Counts requests as an analysis would make them, one image after the other. */
export class Payer {
  readonly #ctx: ShotsContext
  readonly #known: DescribedBefore
  readonly #reuses: boolean
  readonly #settling: Settling | null
  readonly #paid = new Set<string>()
  readonly #held = new Set<string>()
  readonly #standing = new Set<string>()
  calls = 0

  constructor({ ctx, examiner, before, reuses, settleSeconds, fingerprints, mayStandNow }: Paying) {
    this.#ctx = ctx
    this.#reuses = reuses
    this.#known = new DescribedBefore(ctx, examiner, {
      most: shotLimits.describedMax, ...(before === undefined ? {} : { before }),
    })
    this.#settling = settleSeconds === null ? null : new Settling(ctx, examiner, {
      described: this.#known, seconds: settleSeconds, fingerprints,
      standing: (...near) => this.#standingWith(
        mayStandNow, mayStandNow === undefined ? null : standingInRows(...near)),
    })
  }

  /** What was counted so far, beside what rows say, where they count. */
  #standingWith(mayStandNow: Paying['mayStandNow'], now: SettledRow | null): SettledRow {
    const stands = (row: Observation): boolean =>
      this.#standing.has(row.observation_id) || now?.stands(row) === true
    return {
      stands, isAsked: (row) => stands(row) || now?.isAsked(row) === true,
      mayStand: (row) => !this.#held.has(row.observation_id) && mayStandNow?.(row) !== false,
    }
  }

  /** Whether every described image could be looked at. */
  get isWhole(): boolean {
    return this.#known.isWhole
  }

  /** What an image needs: a request, unless one looks like it or stands for it. */
  async needs(row: Observation, image: ReadyImage): Promise<Needed> {
    if (this.#reuses && await this.#repeats(row, image)) return 'repeat'
    const by = await this.#settling?.find({ row, image }) ?? null
    if (by !== null) {
      this.#held.add(row.observation_id)
      this.#standing.add(by.observation_id)
      return 'held'
    }
    this.#paid.add(row.observation_id)
    this.#known.add(row, image.fingerprint)
    this.calls += 1
    return 'request'
  }

  async #repeats(row: Observation, image: ReadyImage): Promise<boolean> {
    const repeated = await this.#known.find({ row, image })
    return repeated !== null && this.#describes(repeated.row)
  }

  #describes(other: Observation): boolean {
    if (this.#paid.has(other.observation_id)) return true
    const view = this.#ctx.gov.store.read()
    const setup = view.get(gatewayCollection, gatewayRouteId)?.slots.screenshot ?? null
    return setup !== null && isDescribed(this.#ctx, view, other, setup)
  }
}

/** One way of spending. */
export type Way = Pick<Paying, 'reuses' | 'settleSeconds'> & { readonly inForce: boolean }

/** Seconds that are told beside what is saved. */
const settleOffers = [30, 60] as const

/** Repeats asked about or not, and with each time of settling; what is in force is among them. */
export const waysOf = (now: Omit<Way, 'inForce'>): readonly Way[] => {
  const seconds = [...new Set([null, ...settleOffers, now.settleSeconds])]
  const ways = [
    { reuses: true, settleSeconds: null }, { reuses: false, settleSeconds: null },
    ...(now.reuses || now.settleSeconds === null ? [] : [now]),
    ...seconds.filter((one) => one !== null).sort((a, b) => a - b)
      .map((settleSeconds) => ({ reuses: true, settleSeconds })),
  ]
  return ways.map((way) => ({
    ...way,
    inForce: way.reuses === now.reuses && way.settleSeconds === now.settleSeconds,
  }))
}

/** What goes into an estimate of a day and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, count, iso, nullableText, text } from '../../base/schema.js'
import type { DayEstimate } from './estimate.js'

const nullableCount = v.nullable(count)

const choiceShape = v.strictObject({
  /** The setting, as `shots setup` takes it. */
  reuse: v.picklist(['on', 'off']),
  /** Seconds of a region that goes on changing, of which one image is sent; null: every one is. */
  settle_seconds: v.nullable(count),
  /** Whether it is the one that is saved now, or what counts where none is. */
  in_force: v.boolean(),
  /** Requests for a day of these images, were none of it described yet. */
  calls: count,
  /** False: at most so many; some images were not compared. */
  exact: v.boolean(),
  /** At the average of the newest charges, micro-USD; null where there is none. */
  likely_microusd: nullableCount,
  /** Where every request costs its bound, micro-USD; null without a model. */
  at_most_microusd: nullableCount,
})

const estimateShape = v.strictObject({
  day: text, time_zone: text, since: iso, until: iso,
  /**
   * Images of the folder in force, and of paired devices whose captures may leave, as they were
   * taken in; those that were not yet are not known.
   */
  images: count,
  /** What became of them, and what would: these and `blocked` together are `images`. */
  would_pay: count,
  would_repeat: count,
  described: count,
  described_as_earlier: count,
  failed: count,
  needs_reanalysis: count,
  /** Their bytes were sent before, or are under way: no request follows by itself. */
  sent_before: count,
  source_missing: count,
  blocked: v.array(v.strictObject({ reason: text, count })),
  /** False: `would_pay` is at most so many. */
  exact: v.boolean(),
  /** Images that were not compared, for want of time or of their files; they count as requests. */
  not_compared: count,
  /** Why nothing is sent now; null where the next pass sends. */
  closed: nullableText,
  price: v.strictObject({
    average_microusd: nullableCount, charges: count, bound_microusd: nullableCount,
  }),
  choices: v.array(choiceShape),
})
/** Result of an estimate. */
export type EstimateDocument = v.InferOutput<typeof estimateShape>

const timesOrNull = (calls: number, price: number | null): number | null =>
  price === null ? null : calls * price

const choicesOf = ({ price, choices }: DayEstimate): EstimateDocument['choices'] =>
  choices.map(({ reuse, settleSeconds, inForce, calls, exact }) => ({
    reuse, settle_seconds: settleSeconds, in_force: inForce, calls, exact,
    likely_microusd: timesOrNull(calls, price.averageMicrousd),
    at_most_microusd: timesOrNull(calls, price.boundMicrousd),
  }))

/** What a day of images costs, before it is paid. */
export const shotsEstimate = contract({
  name: 'shots.estimate',
  input: closedObject({
    /** `2026-11-20`; yesterday where it is left out. */
    day: v.optional(v.string()),
    /** IANA name of the zone in which the day is meant. */
    time_zone: v.string(),
  }),
  output: estimateShape,
  toDocument: (estimate: DayEstimate) => {
    const { meant, images, tally, blocked, exact, notCompared, closed, price } = estimate
    return {
      day: meant.day, time_zone: meant.timeZone, since: meant.since, until: meant.until,
      images, ...tally, blocked: [...blocked], exact, not_compared: notCompared, closed,
      price: {
        average_microusd: price.averageMicrousd, charges: price.charges,
        bound_microusd: price.boundMicrousd,
      },
      choices: choicesOf(estimate),
    }
  },
})

/**
 * What a day of images costs, before it is paid. Rows tell what was described and what is blocked;
 * of the rest the files are read and compared by the very rule by which an analysis takes what was
 * described before. It makes no request, holds no lock and writes nothing. What was not compared
 * counts as a request, and the number is told as the most that it can be.
 */
import { fail } from '../../base/errors.js'
import type { Fingerprint } from '../../images/types.js'
import type { View } from '../../state/types.js'
import { blockedRowReader, reasonGone } from '../analysis/blocked.js'
import { earlierCall } from '../analysis/earlier-call.js'
import { prepareImage } from '../analysis/one.js'
import type { PrivacyVerdict, ReadyImage } from '../analysis/privacy.js'
import { keptNow } from '../analysis/restore.js'
import { ReasonCounts } from '../analysis/reason-counts.js'
import { isAskedAbout } from '../captures/places.js'
import { shotLimits } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { consentReaches, routeStatusOf } from '../gates.js'
import {
  currentFacts, rowClassificationNow, rowStatusNow, type CurrentFacts,
} from '../observations/as-of-now.js'
import { findObservations } from '../observations/find.js'
import type { Observation } from '../observations/observation-rows.js'
import { unsettled } from '../observations/unsettled.js'
import type { BlockedReasons } from '../receipts/analysis.js'
import { makeExaminer } from '../scan/examiner.js'
import type { Examiner } from '../scan/types.js'
import { requireRowHere } from '../source/folder-machine.js'
import { isRecursive, reusesAnalyses, savedSettings } from '../source/settings.js'
import { timeZoneOf, zoneOf } from '../../observations/zone.js'
import { meantDay, type MeantDay } from '../meant-day.js'
import { Payer, waysOf, type Way } from './payer.js'
import { requestPrice, type RequestPrice } from './price.js'

/** How long comparing may take, in ms, for somebody who asked for it. */
const compareMsMax = 300_000

/** What became of the images of a day, or would; each is counted once. */
interface Tally {
  would_pay: number
  would_repeat: number
  described: number
  described_as_earlier: number
  failed: number
  needs_reanalysis: number
  sent_before: number
  source_missing: number
}

/** A setting, and how many requests a day comes to with it. */
interface Choice {
  readonly reuse: 'on' | 'off'
  readonly settleSeconds: number | null
  readonly inForce: boolean
  readonly calls: number
  /** Whether every image was compared; otherwise `calls` is the most that it can be. */
  readonly exact: boolean
}

/** The estimate of one day. */
export interface DayEstimate {
  readonly meant: MeantDay
  readonly images: number
  readonly tally: Readonly<Tally>
  readonly blocked: BlockedReasons
  readonly exact: boolean
  readonly notCompared: number
  readonly closed: string | null
  readonly price: RequestPrice
  readonly choices: readonly Choice[]
}

/** Which day, and how long it may take. */
interface EstimateRequest {
  readonly day?: string | undefined
  readonly timeZone: string
  /** How long comparing may take, in ms; what is left then is counted as requests. */
  readonly msMax?: number
}

/** What a row says by itself: a part of the tally, why it is blocked, or that it waits. */
type Standing =
  | { readonly kind: 'waits' }
  | { readonly kind: 'told'; readonly as: keyof Tally }
  | { readonly kind: 'blocked'; readonly reason: string }

/** How each row of the day stands, as of a view. */
const standingReader = (
  ctx: ShotsContext, view: View, now: CurrentFacts,
): ((row: Observation) => Standing) => {
  const route = routeStatusOf(ctx, view)
  const blockedBy = blockedRowReader(ctx, view, route)
  const consent = route.route?.consent
  /** What was taken in before the consent of now waits for a person, once it is its turn. */
  const waiting = (row: Observation): string => keptNow(view, route, row)
    ?? (consent === undefined || consentReaches(consent, row) ? reasonGone : 'before_consent')
  return (row) => {
    const told = (as: keyof Tally): Standing => ({ kind: 'told', as })
    if (rowClassificationNow(row, now) === 'source_missing') return told('source_missing')
    const status = rowStatusNow(row, now)
    if (status === 'succeeded') {
      return told(row.payload?.payload_of === undefined ? 'described' : 'described_as_earlier')
    }
    if (status === 'failed' || status === 'needs_reanalysis') return told(status)
    const reason = status === 'blocked' ? blockedBy(row) : waiting(row)
    if (reason !== reasonGone) return { kind: 'blocked', reason }
    return earlierCall(ctx, view, row).kind === 'none' ? { kind: 'waits' } : told('sent_before')
  }
}

/** One day while its images are looked at. */
class Count {
  readonly tally: Tally = {
    would_pay: 0, would_repeat: 0, described: 0, described_as_earlier: 0, failed: 0,
    needs_reanalysis: 0, sent_before: 0, source_missing: 0,
  }
  readonly blocked = new ReasonCounts()
  /** Requests of the whole day for images whose files were not compared: at most so many. */
  callsUnseen = 0
  /** The same where repeats are asked about, too. */
  callsUnseenOff = 0
  notCompared = 0
  /** Those of them that wait for a request. */
  waitingUnseen = 0
  readonly waiting: Payer
  /** The whole day in each way, as if nothing of it had been described. */
  readonly ways: readonly { readonly way: Way, readonly day: Payer }[]

  constructor(
    ctx: ShotsContext, examiner: Examiner, { since }: MeantDay,
    standing: (row: Observation) => Standing,
  ) {
    const saved = savedSettings(ctx.gov.store.read())
    const shared = { ctx, examiner, fingerprints: new Map<string, Fingerprint | null>() }
    const now = { reuses: reusesAnalyses(saved), settleSeconds: saved.settle_seconds ?? null }
    // One that is blocked for a reason which is gone will be asked about as well.
    const mayStandNow = (row: Observation): boolean =>
      row.analysis_status === 'succeeded' || standing(row).kind === 'waits'
    this.waiting = new Payer({ ...shared, ...now, mayStandNow })
    this.ways = waysOf(now).map((way) => ({
      way, day: new Payer({ ...shared, ...way, before: since }),
    }))
  }

  /** An image whose file was looked at, or that time has run out for (`verdict` null). */
  async add(row: Observation, standing: Standing, verdict: PrivacyVerdict | null): Promise<void> {
    if (verdict === null) this.#unseen(row, standing)
    else if (verdict.kind === 'ready') await this.#ready(row, standing, verdict)
    else this.#unsendable(row, standing, verdict)
  }

  #told(standing: Standing): void {
    if (standing.kind === 'told') this.tally[standing.as] += 1
    if (standing.kind === 'blocked') this.blocked.add(standing.reason, 1)
  }

  #unseen(row: Observation, standing: Standing): void {
    this.notCompared += 1
    this.callsUnseenOff += 1
    this.callsUnseen += row.payload?.payload_of === undefined ? 1 : 0
    if (standing.kind !== 'waits') {
      this.#told(standing)
      return
    }
    this.tally.would_pay += 1
    this.waitingUnseen += 1
  }

  async #ready(row: Observation, standing: Standing, image: ReadyImage): Promise<void> {
    for (const { day } of this.ways) await day.needs(row, image)
    if (standing.kind !== 'waits') {
      this.#told(standing)
      return
    }
    const needed = await this.waiting.needs(row, image)
    if (needed === 'held') this.blocked.add(unsettled, 1)
    else this.tally[needed === 'request' ? 'would_pay' : 'would_repeat'] += 1
  }

  /** It is not sent as it lies there; one that was described was sent, or took an analysis. */
  #unsendable(
    row: Observation, standing: Standing, verdict: Exclude<PrivacyVerdict, ReadyImage>,
  ): void {
    // Of a capture whose file could not be read just now nothing is known.
    if (row.payload !== null || verdict.kind === 'unread') {
      this.#unseen(row, standing)
      return
    }
    if (standing.kind !== 'waits') this.#told(standing)
    else if (verdict.kind === 'refused') this.blocked.add(verdict.reason, 1)
    else this.tally.source_missing += 1
  }
}

const requireGoing = ({ signal }: ShotsContext): void => {
  if (signal.aborted) throw fail.cancelled('interrupted', 'Stopped before all was looked at.')
}

/** Looks at the images of a day in the order of an analysis, a few files at a time. */
const lookAtAll = async (
  ctx: ShotsContext, rows: readonly Observation[], count: Count,
  { examiner, msMax, standing }: {
    readonly examiner: Examiner, readonly msMax: number,
    readonly standing: (row: Observation) => Standing,
  },
): Promise<void> => {
  const { clock, observer, store } = ctx.gov
  const view = store.read()
  const preparing = { recursive: isRecursive(savedSettings(view)), examiner, released: false }
  const untilMs = clock.monotonicMs() + msMax
  await observer.at('estimate.look')
  for (let done = 0; done < rows.length; done += shotLimits.concurrencyDefault) {
    requireGoing(ctx)
    const some = rows.slice(done, done + shotLimits.concurrencyDefault)
    const seen = clock.monotonicMs() < untilMs
      ? await Promise.all(some.map((row) => prepareImage(ctx, row, preparing))) : null
    for (const [i, row] of some.entries()) {
      await count.add(row, standing(row), seen?.[i]?.verdict ?? null)
    }
    observer.counts?.({ what: 'estimate', done: done + some.length, of: rows.length })
  }
}

/** Images of the folder in force and of devices that were captured in a day, oldest first. */
const imagesOf = (
  ctx: ShotsContext, view: View, { since, until }: MeantDay,
): readonly Observation[] => {
  const { folderDigest } = currentFacts(ctx, view)
  return folderDigest === null
    ? [] : [...findObservations(view, { since, until, meant: isAskedAbout(folderDigest) })]
}

/**
 * Estimates a day: yesterday in the zone, unless another one is asked for. Throws `rejected`
 * `day_invalid`, `time_zone_unknown` or `of_other_machine`, and `cancelled` at a signal.
 */
export const estimateDay = async (
  ctx: ShotsContext, { msMax = compareMsMax, ...asked }: EstimateRequest,
): Promise<DayEstimate> => {
  const { gov } = ctx
  const meant = meantDay(gov.clock.wallMs(), asked)
  const view = gov.store.read()
  const rows = imagesOf(ctx, view, meant)
  const ofFolder = rows.find(({ edge }) => edge === undefined)
  if (ofFolder !== undefined) requireRowHere(gov.store, view, ofFolder)
  const examiner = makeExaminer()
  const standing = standingReader(ctx, view, currentFacts(ctx, view))
  const count = new Count(ctx, examiner, meant, standing)
  try {
    await lookAtAll(ctx, rows, count, { examiner, msMax, standing })
  } finally {
    await examiner.close()
  }
  const isSeen = count.notCompared === 0
  return {
    meant, images: rows.length, tally: count.tally, blocked: count.blocked.list(),
    exact: count.waitingUnseen === 0 && count.waiting.isWhole, notCompared: count.notCompared,
    closed: routeStatusOf(ctx, view).closed, price: requestPrice(view),
    choices: count.ways.map(({ way: { reuses, settleSeconds, inForce }, day }) => ({
      reuse: reuses ? 'on' : 'off', settleSeconds, inForce,
      exact: isSeen && (!reuses || day.isWhole),
      calls: day.calls + (reuses ? count.callsUnseen : count.callsUnseenOff),
    })),
  }
}

/** The same of yesterday in the zone of this process; null where no image of it was taken in. */
export const estimateYesterday = async (
  ctx: ShotsContext, msMax: number,
): Promise<DayEstimate | null> => {
  const timeZone = zoneOf(timeZoneOf(ctx.env)).name
  const meant = meantDay(ctx.gov.clock.wallMs(), { timeZone })
  if (imagesOf(ctx, ctx.gov.store.read(), meant).length === 0) return null
  return estimateDay(ctx, { day: meant.day, timeZone, msMax })
}

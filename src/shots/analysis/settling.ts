/**
 * Pictures of a region that goes on changing, where `settle_seconds` says so: which later one
 * stands for a picture that would be sent, so that it need not be. Files are read as they are now;
 * what cannot be looked at stands for nothing, and nothing stands for it. The record judges once
 * more that neither is held for another one.
 */
import { msFromIso } from '../../base/clock.js'
import { isoWithin } from '../../base/calendar.js'
import type { Fingerprint } from '../../images/types.js'
import { nowIso } from '../../governance/context.js'
import type { Tx, View } from '../../state/types.js'
import { captureReason } from '../captures/gate.js'
import { shotLimits } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { consentReaches, gateTextOf, routeStatusOf } from '../gates.js'
import { transactCounted } from '../locked.js'
import { findObservations } from '../observations/find.js'
import { putObservation } from '../observations/observation-store.js'
import { shotCollections as c, type Observation } from '../observations/observation-rows.js'
import { isMerging } from '../scan/gate.js'
import type { Examiner } from '../scan/types.js'
import { savedSettings } from '../source/settings.js'
import { ignoredAsTaken, mayRepeat } from './described.js'
import { earlierCall } from './earlier-call.js'
import { lookInto, readyNow, type ReadyImage } from './privacy.js'
import type { DescribedBefore } from './reuse.js'
import { admit, termsOf, type Attempt } from './send-image.js'
import { stoodFor, type Passage, type Stood } from './settling-rule.js'
import { unsettled } from '../observations/unsettled.js'

/** Rows around a picture that are looked through for pictures of its kind, in each direction. */
const rowsMax = 64
/** Fingerprints that are kept, of the pictures looked at last. */
const keptMax = 96
/** Pictures that may stand for one and are compared in full. */
const comparedMax = 3

/** Which rows may stand for others, and which do already. */
export interface SettledRow {
  /** Whether a picture will be told of: one that is held itself stands for none. */
  mayStand(row: Observation): boolean
  /** Whether one is held for this one: this one is not held. */
  stands(row: Observation): boolean
  /** Whether it was asked about, or will be: then one more may be held for it. */
  isAsked(row: Observation): boolean
}

const secondsBefore = (iso: string, seconds: number): string =>
  isoWithin(msFromIso(iso) - seconds * 1_000)

/**
 * Whether a picture is so young that the one which stands for it may not be taken in yet. One from
 * further ahead is of a clock that was set back since: it would wait for as long.
 */
export const isYoung = (
  row: Pick<Observation, 'captured_at' | 'captured_in_future'>, seconds: number, nowMs: number,
): boolean =>
  !row.captured_in_future && Math.abs(nowMs - msFromIso(row.captured_at)) < seconds * 1_000

/** Ids of pictures near one that others are held for. */
const standersNear = (
  view: View, { root_digest: folderDigest, captured_at: at }: Observation,
): ReadonlySet<string | undefined> => {
  const { settleSecondsMax: most } = shotLimits
  return new Set([...findObservations(view, {
    folderDigest, statuses: ['blocked'], meant: ({ reason }) => reason === unsettled,
    since: secondsBefore(at, most), until: secondsBefore(at, -most),
  })].map(({ stood_for_by: by }) => by))
}

/** How the rows near a picture stand as a view has them. */
export const standingInRows = (ctx: ShotsContext, view: View, near: Observation): SettledRow => {
  const { route, consentId } = routeStatusOf(ctx, view)
  const consent = route?.consent
  const standers = standersNear(view, near)
  const stands = ({ observation_id: id }: Observation): boolean => standers.has(id)
  /** Whether nothing but its turn keeps a picture that waits from being asked about. */
  const willBeAsked = (row: Observation): boolean => {
    if (consent !== undefined && !consentReaches(consent, row)) return false
    if (row.edge !== undefined && captureReason(view, row.edge, consentId) !== null) return false
    const { kind } = earlierCall(ctx, view, row)
    return kind === 'none' || kind === 'running'
  }
  return {
    stands, isAsked: (row) => row.analysis_status === 'succeeded' || stands(row),
    mayStand: (row) => row.archived_at === null && row.classification === null
      && (row.analysis_status === 'succeeded'
        || (row.analysis_status === 'pending' && willBeAsked(row))),
  }
}

interface SettlingParts {
  /** What shows again what was described stands for nothing. */
  readonly described: Pick<DescribedBefore, 'find'>
  readonly seconds: number
  /** As rows near a picture tell it, unless said. */
  readonly standing?: typeof standingInRows
  /** Of the pictures looked at last, by their ids; shared where several look at the same ones. */
  readonly fingerprints?: Map<string, Fingerprint | null>
}

/** What one pass knows of pictures of regions that go on changing. */
export class Settling {
  readonly #ctx: ShotsContext
  readonly #examiner: Examiner
  readonly #described: Pick<DescribedBefore, 'find'>
  readonly #seconds: number
  readonly #standing: typeof standingInRows
  readonly #fingerprints: Map<string, Fingerprint | null>

  constructor(
    ctx: ShotsContext, examiner: Examiner,
    { described, seconds, standing = standingInRows, fingerprints = new Map() }: SettlingParts,
  ) {
    this.#ctx = ctx
    this.#examiner = examiner
    this.#described = described
    this.#seconds = seconds
    this.#fingerprints = fingerprints
    this.#standing = standing
  }

  /**
   * Holds a picture for a later one. False: none stands for it, or no longer. Throws what keeps a
   * picture from being claimed: `blocked`, `budget`, `conflict`, `locked`.
   */
  async hold(attempt: Attempt): Promise<boolean> {
    const by = await this.find(attempt)
    if (by === null) return false
    const ctx = this.#ctx
    await ctx.gov.observer.at('analyze.unsettled')
    const terms = termsOf(ctx, ctx.gov.store.read())
    return transactCounted(ctx.gov, 'shots analyze', (tx) =>
      this.#record(tx, admit(attempt, terms, tx).row, by))
  }

  /** The later picture that stands for one, by their files as they are now; null where none. */
  async find(
    { row, image }: { readonly row: Observation, readonly image: ReadyImage },
  ): Promise<Observation | null> {
    const view = this.#ctx.gov.store.read()
    const ignored = ignoredAsTaken(view, row)
    const { fingerprint: now } = image
    const isMeant = now !== null && ignored !== undefined && !row.captured_in_future
    const standing = this.#standing(this.#ctx, view, row)
    if (!isMeant || standing.stands(row)) return null
    this.#keep(row, now)
    const [before, twoBefore] = await this.#before(view, row)
    if (before === undefined || twoBefore === undefined) return null
    const later = await this.#later(view, row)
    const rects = ignored?.rects ?? []
    const stood = stoodFor({
      twoBefore, before, now, later: later.map(({ fingerprint }) => fingerprint), ignored: rects,
    })
    if (stood === null) return null
    const able = stood.by.map((at) => later[at]!.row).filter((one) => standing.mayStand(one))
    // One that is asked about anyway serves as well: each further one would be a request more.
    const asked = able.filter((one) => standing.isAsked(one))
    const within = { ignored: rects, region: stood.region }
    for (const other of [...new Set([...asked, ...able])].slice(0, comparedMax)) {
      if (await this.#standsFor(image, other, within)) return other
    }
    return null
  }

  /**
   * Whether one may stand for a picture that is alike outside of a region: not where it shows
   * there what was described before, because then nothing would be told of what was there between.
   */
  async #standsFor(
    { bytes }: ReadyImage, row: Observation,
    { ignored, region }: Pick<Passage, 'ignored'> & Pick<Stood, 'region'>,
  ): Promise<boolean> {
    const image = await readyNow(this.#ctx, row)
    if (image === null) return false
    const standing = { sha256: row.sha256, bytes: image.bytes }
    const { verdict } = await this.#examiner.compare({
      bytes, standing, ignored: [...ignored, region],
    })
    if (!isMerging(verdict)) return false
    const fingerprint = await this.#fingerprintOf(row)
    return await this.#described.find({ row, image: { ...image, fingerprint } }, region) === null
  }

  #record(tx: Tx, row: Observation, { observation_id: by }: Observation): boolean {
    const other = tx.get(c.observations, by)
    const isOn = savedSettings(tx).settle_seconds === this.#seconds
    if (other === undefined || !isOn) return false
    const standing = standingInRows(this.#ctx, tx, row)
    if (!standing.mayStand(other) || standing.stands(row)) return false
    const now = nowIso(this.#ctx.gov)
    putObservation(tx, now, {
      ...row, analysis_status: 'blocked', stood_for_by: by,
      analyzer: {
        ...row.analyzer, reason: unsettled, detail: gateTextOf(unsettled)?.text ?? null,
        updated_at: now,
      },
    })
    return true
  }

  /** The two pictures before one, each at most so many seconds before the next. */
  async #before(view: View, row: Observation): Promise<readonly Fingerprint[]> {
    const found: Fingerprint[] = []
    let next = row
    let looks = 0
    const earlier = findObservations(view, {
      folderDigest: row.root_digest, newestFirst: true, behind: row,
      since: secondsBefore(row.captured_at, 2 * this.#seconds),
    })
    for (const one of earlier) {
      looks += 1
      if (looks > rowsMax || found.length === 2) break
      if (!mayRepeat(one, row)) continue
      if (one.captured_at < secondsBefore(next.captured_at, this.#seconds)) break
      const fingerprint = await this.#fingerprintOf(one)
      if (fingerprint === null) break
      found.push(fingerprint)
      next = one
    }
    return found
  }

  /** The pictures of the seconds behind one, as far as they can be looked at. */
  async #later(
    view: View, row: Observation,
  ): Promise<readonly { readonly row: Observation, readonly fingerprint: Fingerprint }[]> {
    const found: { row: Observation, fingerprint: Fingerprint }[] = []
    const { captured_at: since, observation_id: id } = row
    let looks = 0
    for (const one of findObservations(view, {
      folderDigest: row.root_digest, since, until: secondsBefore(since, -this.#seconds),
    })) {
      looks += 1
      if (looks > rowsMax) break
      const isBehind = one.captured_at > since || one.observation_id > id
      if (!isBehind || !mayRepeat(one, row)) continue
      const fingerprint = await this.#fingerprintOf(one)
      if (fingerprint === null) break
      found.push({ row: one, fingerprint })
    }
    return found
  }

  async #fingerprintOf(row: Observation): Promise<Fingerprint | null> {
    const kept = this.#fingerprints.get(row.observation_id)
    if (kept !== undefined) {
      // Looked at once more, it is kept longer: each picture is looked at for all around it.
      this.#keep(row, kept)
      return kept
    }
    const image = await readyNow(this.#ctx, row)
    // What may not leave is told of by nobody, so it tells nothing of others.
    const seen = image === null ? null : await lookInto(image, this.#examiner, false)
    const made = seen?.kind === 'ready' ? seen.fingerprint : null
    this.#keep(row, made)
    return made
  }

  #keep({ observation_id: id }: Observation, fingerprint: Fingerprint | null): void {
    this.#fingerprints.delete(id)
    this.#fingerprints.set(id, fingerprint)
    const [oldest] = this.#fingerprints.keys()
    if (this.#fingerprints.size > keptMax && oldest !== undefined) {
      this.#fingerprints.delete(oldest)
    }
  }
}

/**
 * The visual-run gate: whether an image is held back for the one before it (S-070 to S-076). The
 * grey fingerprint only refuses; what it lets pass is confirmed by the two whole pictures, and what
 * cannot be confirmed is taken in. Pure: the comparison was made before, outside of the lock.
 */
import { compareOutside, smallChangeOf, type Comparison } from '../../images/fingerprint.js'
import { visualLimit } from '../../images/image-limits.js'
import type { PixelRect } from '../../images/types.js'
import type { Observation } from '../observations/observation-rows.js'
import type { IgnoredHere } from '../source/ignored.js'
import { standsForOthers } from './needs-reading.js'
import { extended, lengthWith, type RunHolder } from './run.js'
import type { Confirmation, Representative, TakenFile } from './types.js'

/** What the gate asks of the row that stands for others. */
export type StandingRow = RunHolder & Pick<Observation,
  'root' | 'sha256' | 'bytes' | 'format' | 'width' | 'height' | 'classification' | 'archived_at'
  | 'payload' | 'ignored_sha256'>

/** The cell in which two pictures differ most. */
type Cell = NonNullable<Comparison['cell']>

/** What a file's row keeps of a comparison of two whole pictures. */
interface Compared {
  readonly representative_sha256: string
  /** Largest difference of repeats; null for all others. */
  readonly difference: number | null
}

interface Measured {
  readonly measure: number
  readonly cell: Cell | null
}

/** What the gate says of an image. */
export type GateDecision<R> =
  | Measured & {
    readonly kind: 'suppressed'
    readonly reason: string
    readonly compared: Compared
    readonly changed: R
  }
  /** `reason`: why the gate did not hold it back. */
  | {
    readonly kind: 'ingested'
    readonly reason: string
    readonly measure: number | null
    readonly cell: Cell | null
    readonly compared: Compared | null
    /** The small rectangle that it differs in from the image before it; null where none does. */
    readonly region: PixelRect | null
  }
  /** Nothing is decided before it was compared with this row's picture. */
  | { readonly kind: 'unconfirmed'; readonly representative: R }

const fresh = <R>(
  reason: string, measured: Measured | null = null, compared: Compared | null = null,
  region: PixelRect | null = null,
): GateDecision<R> => ({
  kind: 'ingested', reason, measure: measured?.measure ?? null, cell: measured?.cell ?? null,
  compared, region,
})

/** Why an image is taken in though its fingerprint is alike, by what the comparison told. */
const refusals = {
  differs: 'picture_differs',
  other_colours: 'other_colours',
  animated: 'animated',
  not_compared: 'not_confirmed',
  representative_gone: 'representative_gone',
} as const satisfies Record<Exclude<Confirmation['verdict'], keyof typeof merging>, string>

/** Why an image is held back, by what the comparison told. */
const merging = {
  same: 'same_picture',
  alike: 'looks_alike',
  alike_outside: 'alike_outside_ignored',
} as const

/** Whether two whole pictures were found to be repeats, by what comparing them told. */
export const isMerging = (verdict: Confirmation['verdict']): verdict is keyof typeof merging =>
  Object.hasOwn(merging, verdict)

/**
 * Whether a comparison was made with this row's picture, without the areas that are ignored now, or
 * will never be had.
 */
const isAbout = (
  { representativeSha256, ignoredSha256 }: Confirmation, row: StandingRow,
  ignored: IgnoredHere | null,
): boolean =>
  representativeSha256 === null
  || (representativeSha256 === row.sha256 && ignoredSha256 === (ignored?.sha256 ?? null))

const confirmedBy = <R extends StandingRow>(
  taken: TakenFile, row: R, measured: Measured, ignored: IgnoredHere | null,
): GateDecision<R> => {
  const { confirmed } = taken
  if (confirmed === null || !isAbout(confirmed, row, ignored)) {
    return { kind: 'unconfirmed', representative: row }
  }
  const { verdict, difference, region } = confirmed
  const compared = { representative_sha256: row.sha256, difference }
  if (!isMerging(verdict)) return fresh(refusals[verdict], measured, compared, region)
  const reason = merging[verdict]
  return {
    kind: 'suppressed', reason, ...measured, compared, changed: extended(row, taken, reason),
  }
}

/**
 * Judges a file against the image that stands; `refreshMs`: how long a run may last. `ignored`:
 * what does not count of images of its size.
 */
export const gate = <R extends StandingRow>(
  taken: TakenFile, representative: Representative<R> | null, refreshMs: number,
  ignored: IgnoredHere | null,
): GateDecision<R> => {
  if (representative === null || !standsForOthers(representative.row)) return fresh('first_image')
  const { row, fingerprint } = representative
  if (taken.fingerprint === null) return fresh('not_decodable')
  if (row.format !== taken.format) return fresh('other_format')
  if (row.width !== taken.width || row.height !== taken.height) return fresh('other_dimensions')
  if (fingerprint === null) return fresh('representative_not_decodable')
  // What a run stands for must mean the same from its first image to its last.
  if (row.ignored_sha256 !== ignored?.sha256) return fresh('ignored_changed')
  const rects = ignored?.rects ?? []
  const { comparable, measure, cell } = compareOutside(fingerprint, taken.fingerprint, rects)
  if (!comparable) return fresh('not_comparable')
  if (measure > visualLimit) {
    const region = smallChangeOf(fingerprint, taken.fingerprint, rects)
    return fresh('looks_different', { measure, cell }, null, region)
  }
  if (lengthWith(row, taken) >= refreshMs) return fresh('run_refreshed', { measure, cell })
  return confirmedBy(taken, row, { measure, cell }, ignored)
}

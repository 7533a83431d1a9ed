/**
 * The visual-run gate: whether an image is held back for the one before it (S-070 to S-076). The
 * grey fingerprint only refuses; what it lets pass is confirmed by the two whole pictures, and what
 * cannot be confirmed is taken in. Pure: the comparison was made before, outside of the lock.
 */
import { compareFingerprints, type Comparison } from '../../images/fingerprint.js'
import { visualLimit } from '../../images/limits.js'
import type { Observation } from '../observations/rows.js'
import { extended, lengthWith, type RunHolder } from './run.js'
import type { Confirmation, Representative, TakenFile } from './types.js'

/** What the gate asks of the row that stands for others. */
export type StandingRow = RunHolder & Pick<Observation,
  'root' | 'sha256' | 'bytes' | 'format' | 'width' | 'height' | 'classification' | 'archived_at'
  | 'payload'>

/** The cell in which two pictures differ most. */
type Cell = NonNullable<Comparison['cell']>

/** What a file's row keeps of a comparison of two whole pictures. */
export interface Compared {
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
  }
  /** Nothing is decided before it was compared with this row's picture. */
  | { readonly kind: 'unconfirmed'; readonly representative: R }

/**
 * Whether an observation may stand for look-alikes: its picture can still be looked at, or was. One
 * whose file is gone before it was ever analysed would hide them all.
 */
export const standsForOthers = (
  row: Pick<Observation, 'archived_at' | 'classification' | 'payload'>,
): boolean =>
  row.archived_at === null && (row.classification !== 'source_missing' || row.payload !== null)

const fresh = <R>(
  reason: string, measured: Measured | null = null, compared: Compared | null = null,
): GateDecision<R> => ({
  kind: 'ingested', reason, measure: measured?.measure ?? null, cell: measured?.cell ?? null,
  compared,
})

/** Why an image is taken in though its fingerprint is alike, by what the comparison told. */
const refusals = {
  differs: 'picture_differs',
  other_colours: 'other_colours',
  animated: 'animated',
  not_compared: 'not_confirmed',
  representative_gone: 'representative_gone',
} as const satisfies Record<Exclude<Confirmation['verdict'], 'same' | 'alike'>, string>

/** Whether a comparison was made with this row's picture, or will never be had. */
const isAbout = ({ representativeSha256 }: Confirmation, row: StandingRow): boolean =>
  representativeSha256 === null || representativeSha256 === row.sha256

const confirmedBy = <R extends StandingRow>(
  taken: TakenFile, row: R, measured: Measured,
): GateDecision<R> => {
  const { confirmed } = taken
  if (confirmed === null || !isAbout(confirmed, row)) {
    return { kind: 'unconfirmed', representative: row }
  }
  const { verdict, difference } = confirmed
  const compared = { representative_sha256: row.sha256, difference }
  if (verdict !== 'same' && verdict !== 'alike') {
    return fresh(refusals[verdict], measured, compared)
  }
  const reason = verdict === 'same' ? 'same_picture' : 'looks_alike'
  return {
    kind: 'suppressed', reason, ...measured, compared, changed: extended(row, taken, reason),
  }
}

/** Judges a file against the image that stands; `refreshMs`: how long a run may last. */
export const gate = <R extends StandingRow>(
  taken: TakenFile, representative: Representative<R> | null, refreshMs: number,
): GateDecision<R> => {
  if (representative === null || !standsForOthers(representative.row)) return fresh('first_image')
  const { row, fingerprint } = representative
  if (taken.fingerprint === null) return fresh('not_decodable')
  if (row.format !== taken.format) return fresh('other_format')
  if (row.width !== taken.width || row.height !== taken.height) return fresh('other_dimensions')
  if (fingerprint === null) return fresh('representative_not_decodable')
  const { comparable, measure, cell } = compareFingerprints(fingerprint, taken.fingerprint)
  if (!comparable) return fresh('not_comparable')
  if (measure > visualLimit) return fresh('looks_different', { measure, cell })
  if (lengthWith(row, taken) >= refreshMs) return fresh('run_refreshed', { measure, cell })
  return confirmedBy(taken, row, { measure, cell })
}

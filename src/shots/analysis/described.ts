/** Which images were described, so that a repeat of one need not be asked about. Pure. */
import type { SlotSetup } from '../../gateway/setup.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { ignoredOf, type IgnoredHere } from '../source/ignored.js'
import { savedSettings } from '../source/settings.js'
import type { Observation, PayloadRef } from '../observations/observation-rows.js'
import { contentCalls } from './earlier-call.js'

/** An image whose analysis others may take. */
export type Described = Observation & { readonly payload: PayloadRef }

/**
 * Whether an image was described by a call of its own that stands: under the model, upstream hosts,
 * prompt and schema of now, whose digest is that of the call. One that took its analysis from
 * another image has no such call, so that no repeat is a repeat of a repeat.
 */
export const isDescribed = (
  ctx: Pick<ShotsContext, 'gov'>, view: View, row: Observation, setup: SlotSetup,
): row is Described => {
  const { payload } = row
  if (row.analysis_status !== 'succeeded' || row.classification !== null) return false
  if (row.archived_at !== null || payload === null || payload.earlier) return false
  const { last } = contentCalls(ctx, view, row, setup)
  return last?.standing === 'succeeded' && last.claim.operation_id === payload.operation_id
}

/** What two images must share before their pictures are compared. */
type Facts = Pick<Observation, 'root_digest' | 'format' | 'width' | 'height' | 'ignored_sha256'>

/** Whether an image may repeat another one, by what rows say of them. */
export const mayRepeat = (row: Facts, other: Facts): boolean =>
  row.root_digest === other.root_digest && row.format === other.format
  && row.width === other.width && row.height === other.height
  && row.ignored_sha256 === other.ignored_sha256

/**
 * What does not count of an image when it is compared; undefined where that is not what did not
 * count when it was taken in: then nothing is taken for its repeat.
 */
export const ignoredAsTaken = (view: View, row: Observation): IgnoredHere | null | undefined => {
  const now = ignoredOf(savedSettings(view).ignore)(row.width, row.height)
  return row.ignored_sha256 === now?.sha256 ? now : undefined
}

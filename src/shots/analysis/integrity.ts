/**
 * Whether what lies in an image file is an image, whole: only that may leave (S-019, S-021). What
 * was decoded here is; what uses a part of its format that is not decoded here must name its size
 * in the header and reach its end. Nothing may stand behind that end: no viewer shows it. Anything
 * else waits for a person, and what does not tell its size for nobody: the limit of pixels could
 * not be applied to it.
 */
import type { Examined, ImageReason } from '../../images/types.js'
import { goesOn, reachesEnd } from '../../images/whole-file.js'

/** Why an image may not leave as it is. */
export type IntegrityReason = 'image_damaged' | 'image_truncated' | 'image_goes_on'

interface Size {
  readonly width: number | null
  readonly height: number | null
}

/** The picture itself was found to be wrong, in a format that is decoded here. */
const damaged: ReadonlySet<ImageReason> = new Set(['header_damaged', 'data_damaged'])

/** Whether the limit of pixels can be applied: without a size nothing leaves, released or not. */
export const hasSize = ({ width, height }: Size): boolean => width !== null && height !== null

/** Judges one image by what was found in its bytes; null: it may leave. Pure. */
export const integrityOf = (
  { facts, reason }: Pick<Examined, 'facts' | 'reason'>, bytes: Uint8Array,
): IntegrityReason | null => {
  const { format } = facts
  if (format === null || !hasSize(facts)) return 'image_damaged'
  if (reason !== null && damaged.has(reason)) return 'image_damaged'
  if (reason === 'truncated') return 'image_truncated'
  if (reason !== null && !reachesEnd(bytes, format)) return 'image_truncated'
  return goesOn(bytes, format) ? 'image_goes_on' : null
}

/** When an image was captured: the modification time of its file (S-063). */
import { isoWithin } from '../../base/calendar.js'

/** ISO text of a modification time; the ends of the calendar stand for what lies beyond. */
export const capturedAtOf = (modifiedNs: bigint): string =>
  isoWithin(Number(modifiedNs / 1_000_000n))

/** When an image was captured: the modification time of its file (S-063). */
import { isoFromMs } from '../../base/clock.js'

const isoMax = Date.parse('9999-12-31T23:59:59.999Z')
const isoMin = Date.parse('0000-01-01T00:00:00.000Z')

/** ISO text of a modification time; the ends of the calendar stand for what lies beyond. */
export const capturedAtOf = (modifiedNs: bigint): string => {
  const ms = Number(modifiedNs / 1_000_000n)
  return isoFromMs(Math.min(isoMax, Math.max(isoMin, ms)))
}

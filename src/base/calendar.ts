/**
 * The years 0 to 9999, whose ISO text has four digits: only such texts are in the order of the
 * times that they tell, so no other time is ever kept or looked for.
 */
import { isoFromMs } from './clock.js'

const firstMs = Date.parse('0000-01-01T00:00:00.000Z')
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/** ISO text of milliseconds since 1970; the ends of the calendar stand for what lies beyond. */
export const isoWithin = (ms: number): string =>
  isoFromMs(Math.min(lastMs, Math.max(firstMs, ms)))

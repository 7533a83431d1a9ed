/**
 * What a charge that no reply told can have been, by readings of what the key has spent before and
 * after it. Pure. A range is given only where
 * - the state told every contact between the readings, and no other key or reset lies between;
 * - readings without an unknown charge between them agree with what replies told, before and after:
 *   otherwise somebody else uses the key, or the gateway counts late;
 * - a charge that a reply told was seen to be counted, and the unknown one had at least that long.
 * What is counted later than everything that was seen is not in it: nothing settles by a range.
 */
import { msFromIso } from '../../base/clock.js'
import type { View } from '../../state/types.js'
import { dollarsOf, partsOfMicro, partsOfPlace, type Dollars } from './dollars.js'
import { openSinceReading, readingsIn, type OpenContact, type UsageReading } from './usage-rows.js'

/** Why readings give no range. */
export type Unbounded =
  | 'no_reading_before' | 'no_reading_after' | 'another_key' | 'went_down' | 'billed_elsewhere'
  | 'late_or_shared' | 'not_confirmed' | 'too_coarse' | 'more_than_held'

/** What readings say of one unknown charge. */
export type ChargeRange =
  | { readonly bounding: false; readonly reason: Unbounded }
  | {
    readonly bounding: true
    readonly lowMicrousd: number
    readonly highMicrousd: number
    /** Unknown charges that lie in it together, this one among them. */
    readonly of: number
    /** Times of the readings before, after and behind it, ISO. */
    readonly before: string
    readonly after: string
    readonly confirmed: string
  }

/** Whoever died sent a request that may be answered, and counted, for so long. */
const longestRequestMs = 120_000

/** The time between two readings. */
interface Span {
  readonly from: UsageReading
  readonly to: UsageReading
  /** How much more the key has spent than replies told, in parts of `dollars.ts`. */
  readonly over: bigint
  /** How far readings and told charges may be off together. */
  readonly slack: bigint
}

const no = (reason: Unbounded): ChargeRange => ({ bounding: false, reason })

const amount = (lexeme: string): NonNullable<ReturnType<typeof dollarsOf>> =>
  dollarsOf(lexeme) ?? { parts: 0n, decimals: 0, digits: 0 }

/** How fine readings of one key were ever written. */
interface Fineness {
  readonly decimals: number
  readonly digits: number
}

/** Numbers of single precision are told apart by so many digits, and hold no more than so many. */
const singleDigits = { most: 9, held: 7 } as const

const isSingle = (lexeme: string): boolean => Math.fround(Number(lexeme)) === Number(lexeme)

const finenessOf = (readings: readonly UsageReading[], key: string): Fineness => {
  const written = readings.filter(({ key_fingerprint: its }) => its === key)
    .map(({ usage_usd: usage }) => usage)
  const ofKey = written.map(amount)
  const digits = Math.max(...ofKey.map((one) => one.digits))
  const maySingle = digits <= singleDigits.most || written.every(isSingle)
  return {
    decimals: Math.max(...ofKey.map((one) => one.decimals)),
    digits: maySingle ? Math.min(digits, singleDigits.held) : digits,
  }
}

/**
 * What one reading may be off by. A gateway that rounds to places writes no finer one than it
 * rounds to; one that rounds to digits writes no more of them, so that what grows gets coarser.
 */
const unitOf = ({ parts }: Pick<Dollars, 'parts'>, { decimals, digits }: Fineness): bigint => {
  const [byPlace, byDigits] = [
    partsOfPlace(decimals), 10n ** BigInt(Math.max(0, String(parts).length - digits)),
  ]
  return byPlace > byDigits ? byPlace : byDigits
}

/** How two readings compare; the reason where they do not. */
const spanOf = (
  from: UsageReading | undefined, to: UsageReading, fineness: Fineness,
): Span | Unbounded => {
  if (from === undefined || !to.continues) return 'no_reading_before'
  if (from.key_fingerprint !== to.key_fingerprint) return 'another_key'
  if (from.elsewhere_usd !== to.elsewhere_usd) return 'billed_elsewhere'
  const [before, after] = [amount(from.usage_usd), amount(to.usage_usd)]
  if (after.parts < before.parts) return 'went_down'
  return {
    from, to,
    over: after.parts - before.parts - BigInt(to.told_microusd) * partsOfMicro,
    slack: unitOf(before, fineness) + unitOf(after, fineness)
      + BigInt(to.told + 1) * partsOfMicro,
  }
}

const isKnown = ({ to }: Span): boolean => to.open.length === 0 && !to.open_more

/** Whether nothing is missing of what replies told, nor, where all is known, anything too much. */
const agrees = (span: Span): boolean =>
  span.over >= -span.slack && (!isKnown(span) || span.over <= span.slack)

const msBetween = (from: string, to: string): number => msFromIso(to) - msFromIso(from)

/**
 * How long after it was told a charge was seen to be counted, milliseconds; null: never. Beside an
 * unknown charge nothing is seen: it may stand for one that is missing.
 */
const countedWithin = (spans: readonly Span[]): number | null => {
  const seen = spans.filter(isKnown).flatMap(({ to, slack }) =>
    (to.last_told_at !== null && BigInt(to.told_microusd) * partsOfMicro > slack
      ? [msBetween(to.last_told_at, to.read_at)] : []))
  return seen.at(-1) ?? null
}

/** When the last of the unknown charges came about, at the latest. */
const lastEndMs = (open: readonly OpenContact[], { read_at: read }: UsageReading): number =>
  Math.max(...open.map(({ ended_at: ended }) =>
    (ended === null ? msFromIso(read) + longestRequestMs : msFromIso(ended))))

/** The span before had no call so shortly before its end that it may be counted in this one. */
const isQuiet = ({ from, to }: Span, withinMs: number): boolean => {
  const last = to.last_told_at ?? from.read_at
  return msBetween(last, to.read_at) >= withinMs
}

const floorMicro = (parts: bigint): number => Number(parts > 0n ? parts / partsOfMicro : 0n)
const ceilMicro = (parts: bigint): number =>
  Number((parts + partsOfMicro - 1n) / partsOfMicro)

const rangeIn = (span: Span, confirmed: string): ChargeRange => {
  const { from, to: { open, read_at: after }, over, slack } = span
  const held = open.reduce((sum, one) => sum + one.bound_microusd, 0)
  const least = floorMicro(over - slack)
  const most = ceilMicro(over + slack)
  if (least > held) return no('more_than_held')
  if (least === 0 && most >= held) return no('too_coarse')
  return {
    bounding: true, lowMicrousd: open.length === 1 ? least : 0, highMicrousd: most,
    of: open.length, before: from.read_at, after, confirmed,
  }
}

/** The spans behind one, up to the first that cannot be compared. */
const spansBehind = (
  readings: readonly UsageReading[], at: number, fineness: Fineness,
): readonly Span[] => {
  const spans: Span[] = []
  for (let n = at + 1; n < readings.length; n += 1) {
    const span = spanOf(readings[n - 1], readings[n] as UsageReading, fineness)
    if (typeof span === 'string') break
    spans.push(span)
  }
  return spans
}

/** The spans before one, oldest first, back to one that cannot be compared or does not agree. */
const spansBefore = (
  readings: readonly UsageReading[], at: number, fineness: Fineness,
): readonly Span[] => {
  const spans: Span[] = []
  for (let n = at - 1; n > 0; n -= 1) {
    const span = spanOf(readings[n - 1], readings[n] as UsageReading, fineness)
    if (typeof span === 'string' || !agrees(span)) break
    spans.unshift(span)
  }
  return spans
}

/** What readings say of an operation that one of them names among its unknown charges. */
const rangeAt = (readings: readonly UsageReading[], at: number): ChargeRange => {
  const reading = readings[at] as UsageReading
  const fineness = finenessOf(readings, reading.key_fingerprint)
  const span = spanOf(readings[at - 1], reading, fineness)
  if (typeof span === 'string') return no(span)
  if (span.to.open_more) return no('too_coarse')
  const earlier = spansBefore(readings, at, fineness)
  const later = spansBehind(readings, at, fineness)
  const last = earlier.at(-1)
  const next = later.at(0)
  if (next === undefined) return no('no_reading_after')
  if (![span, ...later].every(agrees)) return no('late_or_shared')
  if (last === undefined) return no('no_reading_before')
  const withinMs = countedWithin(earlier)
  if (withinMs === null || withinMs < 0) return no('not_confirmed')
  if (!isKnown(last) || !isQuiet(last, withinMs) || !isKnown(next)) return no('not_confirmed')
  const until = lastEndMs(span.to.open, span.to) + withinMs
  const known = later.findIndex((one) => !isKnown(one))
  const confirmed = (known < 0 ? later : later.slice(0, known))
    .find(({ to }) => msFromIso(to.read_at) >= until)
  return confirmed === undefined ? no('not_confirmed') : rangeIn(span, confirmed.to.read_at)
}

/** What readings say of an unknown charge; null where none was taken around it. */
export const chargeRange = (view: View, operationId: string): ChargeRange | null => {
  const isIt = (one: OpenContact): boolean => one.operation_id === operationId
  if (openSinceReading(view).some(isIt)) return no('no_reading_after')
  const readings = readingsIn(view)
  const at = readings.findIndex(({ open }) => open.some(isIt))
  return at < 0 ? null : rangeAt(readings, at)
}

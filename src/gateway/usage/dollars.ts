/** Exact dollar amounts of any size, out of the text of a number. */
import { NumberLexeme } from '../../base/strict-json.js'

/** An amount, and how fine it was written. */
export interface Dollars {
  /** In 10^-24 US dollars. */
  readonly parts: bigint
  /** Digits behind the point that say something: 2 for `1.50`, written as a number. */
  readonly decimals: number
  /** Digits from the first to the last that is no zero: 3 for `0.0105`. */
  readonly digits: number
}

const form = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,2}))?$/
const scale = 24
const charsMax = 40
const wholeDigitsMax = 12

/** `parts` of one micro-USD. */
export const partsOfMicro = 10n ** BigInt(scale - 6)

/** One unit of a decimal place, in `parts`. */
export const partsOfPlace = (decimals: number): bigint => 10n ** BigInt(scale - decimals)

/** The amount that a text writes; null for a negative, overlong or finer one. */
export const dollarsOf = (lexeme: string): Dollars | null => {
  if (lexeme.length > charsMax) return null
  const [, whole, fraction = '', exponent = '0'] = form.exec(lexeme) ?? []
  if (whole === undefined) return null
  const power = Number(exponent) - fraction.length
  const digits = (whole + fraction).replace(/^0+(?=.)/, '')
  const trailing = /0*$/.exec(digits)?.[0].length ?? 0
  const decimals = digits === '0' ? 0 : Math.max(0, -power - trailing)
  if (decimals > scale || digits.length + power > wholeDigitsMax) return null
  const shift = scale + power
  const parts = shift >= 0
    ? BigInt(digits) * 10n ** BigInt(shift) : BigInt(digits) / 10n ** BigInt(-shift)
  return { parts, decimals, digits: digits.length - trailing }
}

/** The text of a number in a strictly parsed reply; null for anything else, or a bad amount. */
export const dollarLexeme = (value: unknown): string | null => {
  const lexeme = typeof value === 'number' ? String(value)
    : value instanceof NumberLexeme ? value.lexeme : null
  return lexeme === null || dollarsOf(lexeme) === null ? null : lexeme
}

import { NumberLexeme } from '../base/strict-json.js'
import { gatewayLimits } from './constants.js'

/** What the gateway says a request cost. */
export interface UsageCost {
  /** The number exactly as it stood in the reply, US dollars. */
  readonly lexeme: string
  /** Ceiling in integer micro-USD: the ledger's unit. */
  readonly microUsd: number
}

/** Why a reply gives no charge. */
export type CostReason =
  | 'cost_missing' | 'cost_not_number' | 'cost_negative' | 'cost_unreadable' | 'cost_out_of_range'

const lexemeForm = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** A longer number is not money; the bound keeps exact arithmetic cheap. */
const lexemeCharsMax = 64
const exponentMax = 99

/** Ceiling of `digits` x 10^`power` with a power below zero. */
const ceilDown = (digits: string, power: number): bigint => {
  const unit = 10n ** BigInt(-power)
  const value = BigInt(digits)
  return value / unit + (value % unit === 0n ? 0n : 1n)
}

/**
 * Micro-USD of a dollar amount, rounded up, computed on the digits of its text: no double is ever
 * made of it. A negative or overlong number, or one above 1000 dollars, is no charge.
 */
export const microFromUsd = (lexeme: string): UsageCost | CostReason => {
  if (lexeme.length > lexemeCharsMax) return 'cost_unreadable'
  const [, sign, whole, fraction = '', exponent = '0'] = lexemeForm.exec(lexeme) ?? []
  if (whole === undefined) return 'cost_unreadable'
  if (sign === '-') return 'cost_negative'
  if (Math.abs(Number(exponent)) > exponentMax) return 'cost_unreadable'
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return { lexeme, microUsd: 0 }
  const power = Number(exponent) - fraction.length + 6
  const micro = power < 0 ? ceilDown(digits, power) : BigInt(digits) * 10n ** BigInt(power)
  if (micro > BigInt(gatewayLimits.microusdMax)) return 'cost_out_of_range'
  return { lexeme, microUsd: Number(micro) }
}

/** The charge in `usage.cost` of a strictly parsed reply. */
export const readUsageCost = (cost: unknown): UsageCost | CostReason => {
  if (cost === undefined || cost === null) return 'cost_missing'
  if (typeof cost === 'number') return microFromUsd(String(cost))
  return cost instanceof NumberLexeme ? microFromUsd(cost.lexeme) : 'cost_not_number'
}

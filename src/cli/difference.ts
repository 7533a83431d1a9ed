/** What a save would change, one line a field, shown before anybody says yes. */
import { moneyText } from '../base/money.js'

type Fields = Readonly<Record<string, unknown>>

const shown = (name: string, value: unknown): string => {
  if (value === undefined || value === null) return 'not set'
  if (typeof value === 'number' && name.endsWith('_microusd')) return moneyText(value)
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * `name: old -> new` of every field of `after` that differs, amounts as people read them; empty
 * where nothing does.
 */
export const differenceOf = (before: Fields, after: Fields): readonly string[] =>
  Object.entries(after)
    .filter(([name, value]) => shown(name, before[name]) !== shown(name, value))
    .map(([name, value]) => `  ${name}: ${shown(name, before[name])} -> ${shown(name, value)}`)

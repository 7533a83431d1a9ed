/** What a save would change, one line a field, shown before anybody says yes. */

type Fields = Readonly<Record<string, unknown>>

const shown = (value: unknown): string => {
  if (value === undefined || value === null) return 'not set'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `name: old -> new` of every field of `after` that differs; empty where nothing does. */
export const differenceOf = (before: Fields, after: Fields): readonly string[] =>
  Object.entries(after)
    .filter(([name, value]) => shown(before[name]) !== shown(value))
    .map(([name, value]) => `  ${name}: ${shown(before[name])} -> ${shown(value)}`)

/**
 * The account behind a load: what was told to whoever asked, what nobody answered, and what is
 * there afterwards, each effect by a name of its own.
 */

/** One kind of effect. */
export interface Effects {
  readonly kind: string
  /** Answered: each must be there. */
  readonly told: readonly string[]
  /** Asked for and not answered: each may be there. */
  readonly maybe?: readonly string[]
  /** What is there, as often as it is. */
  readonly found: readonly string[]
}

/** What of it is wrong, as sentences: lost, doubled, or asked for by nobody. */
export const reckon = ({ kind, told, maybe = [], found }: Effects): string[] => {
  const times = new Map<string, number>()
  for (const name of found) times.set(name, (times.get(name) ?? 0) + 1)
  const asked = new Set([...told, ...maybe])
  const say = (what: string, names: readonly string[]): string[] =>
    (names.length === 0 ? [] : [`${kind}: ${names.length} ${what}, one is ${names[0]}`])
  return [
    ...say('told twice', told.filter((name, at) => told.indexOf(name) !== at)),
    ...say('lost', told.filter((name) => !times.has(name))),
    ...say('doubled', [...times].filter(([, count]) => count > 1).map(([name]) => name)),
    ...say('that nobody asked for', [...times.keys()].filter((name) => !asked.has(name))),
  ]
}

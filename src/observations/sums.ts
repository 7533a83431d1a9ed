/**
 * How long what was on the screen, from times of pictures and from what a model wrote of them. A
 * picture counts until the next one, and at most five minutes past the last time it was seen: who
 * went away is not counted as looking at the last window.
 */

/** How long something was on the screen, as the model named it. */
export interface TimeSum {
  readonly name: string
  readonly seconds: number
}

/** What a model named on a picture. */
export interface NamedOn {
  readonly activity: string | null
  readonly applications: readonly string[]
  readonly project: string | null
}

/** What is counted of one picture. */
export interface Counted extends NamedOn {
  /** Milliseconds since 1970. */
  readonly atMs: number
  /** When the screen was last seen like that. */
  readonly seenMs: number
}

const pastMs = 300_000

/**
 * Seconds that each picture counts, oldest first; `endMs` ends the day. What is left of a second
 * goes to the next picture, so that together they are never longer than the time that passed.
 */
export const secondsOf = (
  pictures: readonly Pick<Counted, 'atMs' | 'seenMs'>[], endMs: number,
): readonly number[] => {
  let leftMs = 0
  return pictures.map(({ atMs, seenMs }, n) => {
    const until = Math.min(pictures[n + 1]?.atMs ?? endMs, Math.max(seenMs, atMs) + pastMs, endMs)
    const ms = leftMs + Math.max(0, until - atMs)
    leftMs = ms % 1_000
    return (ms - leftMs) / 1_000
  })
}

/**
 * The same for pictures of several places, as of a folder and of a device: each is ended by the
 * next one of its own place, so that no place's times are other ones for what stands beside it.
 */
export const secondsByPlace = (
  pictures: readonly (Pick<Counted, 'atMs' | 'seenMs'> & { readonly place: string })[],
  endMs: number,
): readonly number[] => {
  const seconds = pictures.map(() => 0)
  const places = new Map<string, number[]>()
  for (const [n, { place }] of pictures.entries()) {
    const before = places.get(place)
    if (before === undefined) places.set(place, [n])
    else before.push(n)
  }
  for (const numbers of places.values()) {
    const own = numbers.map((n) => pictures[n]).filter((one) => one !== undefined)
    for (const [at, some] of secondsOf(own, endMs).entries()) seconds[numbers[at] ?? 0] = some
  }
  return seconds
}

/** Sums by name, the longest first; a picture may count for several names. */
const sumsBy = (
  pictures: readonly NamedOn[], seconds: readonly number[],
  namesOf: (one: NamedOn) => readonly string[],
): TimeSum[] => {
  const sums = new Map<string, number>()
  for (const [n, one] of pictures.entries()) {
    for (const name of new Set(namesOf(one))) {
      sums.set(name, (sums.get(name) ?? 0) + (seconds[n] ?? 0))
    }
  }
  return [...sums].map(([name, sum]) => ({ name, seconds: sum }))
    .sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1))
}

/** The three sums of a day or a period. */
export interface TimeSums {
  readonly activity: TimeSum[]
  readonly application: TimeSum[]
  readonly project: TimeSum[]
}

const one = (name: string | null): readonly string[] => (name === null ? [] : [name])

/** Sums of pictures and the seconds that each counts. */
export const timeSums = (pictures: readonly NamedOn[], seconds: readonly number[]): TimeSums => ({
  activity: sumsBy(pictures, seconds, ({ activity }) => one(activity)),
  application: sumsBy(pictures, seconds, ({ applications }) => applications),
  project: sumsBy(pictures, seconds, ({ project }) => one(project)),
})

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const namesOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [])

/** What a stored analysis names; a picture of no project counts as `none told`. */
export const namedIn = (analysis: Readonly<Record<string, unknown>>): NamedOn => ({
  activity: textOf(analysis['activity']), applications: namesOf(analysis['applications']),
  project: textOf(analysis['project']) ?? 'none told',
})

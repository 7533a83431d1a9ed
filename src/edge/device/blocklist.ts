/**
 * What must never be captured (S-041): patterns over what a capture says of itself, its source and
 * its file name. A pattern is a text in which `*` stands for anything and `?` for one character; a
 * regular expression is not taken, because one that backtracks would keep the device for ever. Case
 * and Unicode form do not count. The walk below needs at most pattern times text steps.
 */

/** Patterns of one device; an empty list blocks nothing. */
export interface Blocklist {
  /** Against the declared source; a capture without one is never matched by these. */
  readonly sources: readonly string[]
  /** Against the name of the file, without its folders. */
  readonly file_names: readonly string[]
}

/** What a capture says of itself. */
interface Declared {
  readonly source: string | null
  readonly file_name: string | null
}

/** One character without its case, whatever stands beside it: a final sigma is a sigma. */
const caseless = (one: string): string => {
  const upper = one.toUpperCase()
  return ([...upper].length === 1 ? upper : one).toLowerCase()
}

const plain = (text: string): readonly string[] =>
  [...text.normalize('NFKC')].map(caseless)

/** Whether the whole text fits the pattern. */
export const matchesGlob = (pattern: string, given: string): boolean => {
  const [want, text] = [plain(pattern), plain(given)]
  let [at, next, star, kept] = [0, 0, -1, 0]
  while (at < text.length) {
    if (want[next] === '*') {
      star = next
      next += 1
      kept = at
    } else if (next < want.length && (want[next] === '?' || want[next] === text[at])) {
      at += 1
      next += 1
    } else if (star >= 0) {
      // The last star takes one character more; earlier ones never need another look.
      next = star + 1
      kept += 1
      at = kept
    } else return false
  }
  while (want[next] === '*') next += 1
  return next === want.length
}

/** Which of the two blocks a capture; null when neither does. */
export const blockedBy = (
  list: Blocklist, { source, file_name }: Declared,
): 'source' | 'file_name' | null => {
  const fits = (patterns: readonly string[], text: string | null): boolean =>
    text !== null && patterns.some((pattern) => matchesGlob(pattern, text))
  if (fits(list.sources, source)) return 'source'
  return fits(list.file_names, file_name) ? 'file_name' : null
}

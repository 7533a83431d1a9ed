/** Where a text is found in another, as a person would look for it. */

/** One spelling of what looks alike: compatibility forms, runs of white space, letter case. */
const folded = (text: string): string =>
  text.normalize('NFKC').replace(/\s+/g, ' ').toLowerCase()

/** What is looked for, made ready once; empty where nothing of it is left. */
export const needleOf = (text: string): string => folded(text).trim()

/** Characters that are shown on either side of what was found. */
const contextChars = 60

/**
 * One line of context around the first place where `needle` (of `needleOf`) is found; null where it
 * is not. It shows the text as it stands, or folded where its length is then another.
 */
export const lineAround = (text: string, needle: string): string | null => {
  // Most texts do not hold it: they are looked through once.
  if (needle === '' || !folded(text).includes(needle)) return null
  const plain = text.normalize('NFKC').replace(/\s+/g, ' ').trim()
  const low = folded(plain)
  const at = low.indexOf(needle)
  if (at === -1) return null
  const shown = low.length === plain.length ? plain : low
  const from = Math.max(0, at - contextChars)
  const to = Math.min(shown.length, at + needle.length + contextChars)
  // A pair of surrogates is not parted.
  const start = isLow(shown, from) ? from - 1 : from
  const end = isLow(shown, to) ? to + 1 : to
  return `${start > 0 ? '…' : ''}${shown.slice(start, end)}${end < shown.length ? '…' : ''}`
}

const isLow = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Every text within a value, with the name of the member of the outermost object. */
export function* textsIn(
  value: unknown, field = '',
): Generator<{ readonly field: string; readonly text: string }, void, undefined> {
  if (typeof value === 'string') yield { field, text: value }
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) {
    yield* textsIn(part, field === '' && !Array.isArray(value) ? name : field)
  }
}

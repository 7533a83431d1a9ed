/** Edits between two short words (Levenshtein); words beyond 40 characters are never close. */
const editDistance = (a: string, b: string): number => {
  if (a.length > 40 || b.length > 40) return Infinity
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + same))
    }
    row = next
  }
  return row[b.length] ?? Infinity
}

/** Names that may be meant by a word: those that it begins, else those within two edits. */
export const closeTo = (word: string, names: readonly string[]): readonly string[] => {
  const begun = word === '' ? [] : names.filter((name) => name.startsWith(word))
  return begun.length > 0 ? begun : names.filter((name) => editDistance(name, word) <= 2)
}

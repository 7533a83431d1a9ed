/** The first rows of a list, and how many there are beyond. */
export interface Page<T> {
  readonly rows: readonly T[]
  /** Rows that there are, the shown ones included. */
  readonly total: number
  /** False where counting stopped: there are more than `total`. */
  readonly counted: boolean
}

/** Rows beyond the shown ones that are counted: a list of a year is not read for a note. */
export const countedBeyondMax = 1_000

/** At most `limit` wanted rows, and the count of those that were cut off. */
export const pageOf = <T>(
  all: Iterable<T>, limit: number, isWanted: (row: T) => boolean = () => true,
): Page<T> => {
  const rows: T[] = []
  let total = 0
  for (const row of all) {
    if (!isWanted(row)) continue
    if (total === limit + countedBeyondMax) return { rows, total, counted: false }
    total += 1
    if (rows.length < limit) rows.push(row)
  }
  return { rows, total, counted: true }
}

/** PNG row filters, undone in place (PNG specification, section 9). */

const undoSub = (row: Uint8Array, step: number): void => {
  for (let i = step; i < row.length; i += 1) row[i] = row[i]! + row[i - step]!
}

const undoUp = (row: Uint8Array, above: Uint8Array): void => {
  for (let i = 0; i < row.length; i += 1) row[i] = row[i]! + above[i]!
}

const undoAverage = (row: Uint8Array, above: Uint8Array | null, step: number): void => {
  for (let i = 0; i < row.length; i += 1) {
    const left = i < step ? 0 : row[i - step]!
    row[i] = row[i]! + ((left + (above === null ? 0 : above[i]!)) >> 1)
  }
}

const undoPaeth = (row: Uint8Array, above: Uint8Array, step: number): void => {
  for (let i = 0; i < step && i < row.length; i += 1) row[i] = row[i]! + above[i]!
  for (let i = step; i < row.length; i += 1) {
    const left = row[i - step]!
    const up = above[i]!
    const corner = above[i - step]!
    const toLeft = Math.abs(up - corner)
    const toUp = Math.abs(left - corner)
    const toCorner = Math.abs(left + up - 2 * corner)
    const best = toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner
    row[i] = row[i]! + best
  }
}

/**
 * Undoes one row's filter. `above` is the row before, unfiltered, or null for the first of a pass;
 * `step` is the bytes of a whole pixel, at least 1. False for a filter that does not exist.
 */
export const unfilterRow = (
  filter: number, row: Uint8Array, above: Uint8Array | null, step: number,
): boolean => {
  if (filter === 0) return true
  if (filter === 1) undoSub(row, step)
  else if (filter === 2) {
    if (above !== null) undoUp(row, above)
  } else if (filter === 3) undoAverage(row, above, step)
  else if (filter === 4) {
    if (above === null) undoSub(row, step)
    else undoPaeth(row, above, step)
  } else return false
  return true
}

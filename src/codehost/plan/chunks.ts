/** Cutting lists into requests that stay under their limits. */

/** How much one chunk may hold. */
export interface ChunkLimits {
  readonly itemsMax: number
  readonly bytesMax: number
  /** Bytes of a chunk without items. */
  readonly frameBytes: number
}

/**
 * Cuts a list in order, each chunk as long as it may be. An item that is too large alone stands
 * alone; whoever cuts keeps such items out.
 */
export const chunked = <T>(
  items: readonly T[], bytesOf: (item: T) => number, limits: ChunkLimits,
): readonly (readonly T[])[] => {
  const chunks: T[][] = []
  let bytes = 0
  for (const item of items) {
    const more = bytesOf(item)
    const last = chunks.at(-1)
    if (last === undefined || last.length >= limits.itemsMax || bytes + more > limits.bytesMax) {
      chunks.push([item])
      bytes = limits.frameBytes + more
    } else {
      last.push(item)
      bytes += more
    }
  }
  return chunks
}

/**
 * Puts a damaged segment file right where its digests say what it was: an index or a filter follows
 * from the rows, and one flipped bit of a block is found by trying each. Nothing is guessed.
 */
import { hash } from 'node:crypto'
import { readWhole, unlessUntrue, publish, type Files } from '../files.js'
import { flipOne, mendBytesMax } from '../log/mend.js'
import type { Places } from '../paths.js'
import { buildSegments, type SegmentFacts } from '../segments/build.js'
import { rowsOfBlock, Segment } from '../segments/read-segment.js'

/** Blocks of one file in which single bits are tried: seconds each. */
const blocksMax = 8

/** The file that the rows of all blocks make, if it is the one that was written. */
const rebuilt = (bytes: Buffer, facts: SegmentFacts): Buffer | undefined => {
  const rows = rowsOfBlock(bytes.subarray(0, facts.index[0]))
  if (rows === undefined) return undefined
  for (const built of buildSegments(rows)) {
    return built.facts.sha256 === facts.sha256 ? built.bytes : undefined
  }
  return undefined
}

/** Flips the one bit of a block back; false where no single bit does it. */
const mendBlock = (block: Buffer, sha256: string): boolean =>
  block.length <= mendBytesMax && flipOne(block, 0, () => hash('sha256', block) === sha256) >= 0

const mendBlocks = (bytes: Buffer, facts: SegmentFacts): Buffer | undefined => {
  const segment = new Segment({ facts, read: (at, length) => bytes.subarray(at, at + length) })
  let left = blocksMax
  for (const [, , offset, length, sha256] of unlessUntrue(() => segment.index) ?? []) {
    const block = bytes.subarray(offset, offset + length)
    if (hash('sha256', block) === sha256) continue
    left -= 1
    if (left < 0 || !mendBlock(block, sha256)) return undefined
  }
  return hash('sha256', bytes) === facts.sha256 ? bytes : undefined
}

/** The bytes that a damaged file had; undefined where they cannot be told, or it is sound. */
export const mendedSegment = (
  files: Files, places: Places, facts: SegmentFacts,
): Buffer | undefined => {
  const bytes = unlessUntrue(() => readWhole(files, places.segment(facts.name), facts.bytes))
  if (bytes?.length !== facts.bytes || hash('sha256', bytes) === facts.sha256) return undefined
  return rebuilt(bytes, facts) ?? mendBlocks(bytes, facts)
}

/** Puts mended bytes in the place of the file by one rename. */
export const writeMended = (files: Files, places: Places, name: string, bytes: Buffer): void => {
  publish(files, places.segment(name), bytes)
}

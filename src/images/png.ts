/**
 * The fingerprint of a PNG without an RGBA picture in memory: the data is inflated to exactly the
 * size that the header promises, and each row is unfiltered and averaged as it stands.
 */
import { inflateSync } from 'node:zlib'
import { imageLimits } from './image-limits.js'
import { bitsPerPixel, readPng, rowBytes, type Png } from './png-chunks.js'
import { addRowsFast, canBeFast } from './png-fast.js'
import { passesOf, type Pass } from './png-passes.js'
import { Planes } from './png-planes.js'
import { readerOf } from './png-readers.js'
import { ImageProblem } from './problem.js'
import { release } from './release.js'
import type { Fingerprint } from './types.js'

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
const unfilterRow = (
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

const chunkBytesMin = 64

/**
 * The data, inflated to exactly as many bytes as the header promises: no bomb gets past its own
 * header. Throws `ImageProblem`; `too_many_bytes` where the rows are more than `decodedBytesMax`,
 * before anything is allocated for them.
 */
export const inflate = ({ data }: Png, expected: number): Buffer => {
  if (expected > imageLimits.decodedBytesMax) throw new ImageProblem('too_many_bytes')
  const [first = Buffer.alloc(0)] = data
  let raw: Buffer
  try {
    raw = inflateSync(data.length === 1 ? first : Buffer.concat(data), {
      maxOutputLength: expected, chunkSize: Math.max(chunkBytesMin, expected),
    })
  } catch {
    throw new ImageProblem('data_damaged')
  }
  if (raw.length !== expected) throw new ImageProblem('truncated')
  return raw
}

/**
 * Undoes the filters of a pass in place; rows lie at `length + 1` bytes. Throws `ImageProblem`.
 */
export const unfilter = (
  raw: Buffer, at: number, pass: Pass, length: number, step: number,
): void => {
  let before: Uint8Array | null = null
  for (let row = 0, from = at; row < pass.height; row += 1, from += length + 1) {
    const line = raw.subarray(from + 1, from + 1 + length)
    if (!unfilterRow(raw[from] ?? 0, line, before, step)) throw new ImageProblem('data_damaged')
    before = line
  }
}

const addPass = (png: Png, planes: Planes, raw: Buffer, at: number, pass: Pass): void => {
  const reader = readerOf(png)
  const length = rowBytes(png, pass.width)
  const grey = new Uint32Array(pass.width)
  const alpha = new Uint8Array(pass.width)
  for (let row = 0, from = at + 1; row < pass.height; row += 1, from += length + 1) {
    reader.read(raw.subarray(from, from + length), pass.width, grey, alpha)
    planes.add(pass.y0 + row * pass.dy, pass, grey, reader.hasAlpha ? alpha : null)
  }
}

const addPicture = (
  png: Png, planes: Planes, raw: Buffer, passes: readonly Pass[], sizes: readonly number[],
): void => {
  if (canBeFast(png)) {
    const left = addRowsFast(png, raw, planes)
    const [pass] = passes
    if (left !== null && pass !== undefined) addPass(png, planes, left, 0, pass)
    return
  }
  const step = Math.max(1, bitsPerPixel(png) >> 3)
  let at = 0
  for (const [index, pass] of passes.entries()) {
    unfilter(raw, at, pass, rowBytes(png, pass.width), step)
    addPass(png, planes, raw, at, pass)
    at += sizes[index] ?? 0
  }
}

/** The fingerprint of a PNG whose facts were accepted. Throws `ImageProblem`. */
export const pngFingerprint = (bytes: Uint8Array): Fingerprint => {
  const png = readPng(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const { width, height } = png
  const passes = passesOf(png)
  const sizes = passes.map((pass) => pass.height * (1 + rowBytes(png, pass.width)))
  const raw = inflate(png, sizes.reduce((sum, size) => sum + size, 0))
  const planes = new Planes(width, height)
  addPicture(png, planes, raw, passes, sizes)
  release(raw)
  return { format: 'png', width, height, planes: planes.finish() }
}

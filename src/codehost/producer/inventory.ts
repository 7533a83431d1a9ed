/** Every file of a stage by path, length and SHA-256; what is bound and what proves apart. */
import { createHash } from 'node:crypto'
import {
  closeSync, constants, fstatSync, lstatSync, openSync, readSync, readdirSync,
} from 'node:fs'
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { markerDigest, producerLimits, stageNames, temporaryMark } from './producer-limits.js'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const chunkBytes = 1024 * 1024

/** What has a digest of its own elsewhere. */
const apart = new Set<string>([stageNames.binding, stageNames.start])
const isApart = (name: string): boolean =>
  apart.has(name) || markerDigest(name.replace(temporaryMark, '')) !== null

/** Length and SHA-256 of a regular file, no link followed; null for anything else or a longer. */
export const digestOfFile = (
  path: string, bytesMax: number = Number.MAX_SAFE_INTEGER,
): { readonly bytes: number, readonly sha256: string } | null => {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const { size } = fstatSync(fd)
    if (!fstatSync(fd).isFile() || size > bytesMax) return null
    const digest = createHash('sha256')
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(size, 1)))
    let bytes = 0
    for (let got = readSync(fd, chunk); got > 0; got = readSync(fd, chunk)) {
      digest.update(chunk.subarray(0, got))
      bytes += got
    }
    return { bytes, sha256: digest.digest('hex') }
  } finally {
    closeSync(fd)
  }
}

type Row = readonly [string, number, string]

const rowsBelow = function* (dir: string, below: string): Generator<Row> {
  for (const name of readdirSync(`${dir}${below}`).sort()) {
    if (below === '/' && isApart(name)) continue
    const path = `${below}${name}`
    const stat = lstatSync(dir + path)
    if (stat.isDirectory()) {
      yield* rowsBelow(dir, `${path}/`)
      continue
    }
    const found = stat.isFile() ? digestOfFile(dir + path, producerLimits.stageFileBytesMax) : null
    if (found === null) throw new RangeError('a stage has what is no file of its own')
    yield [path, found.bytes, found.sha256]
  }
}

/**
 * Digest of the inventory. Throws a `RangeError` where something in it is no regular file, is too
 * large, or is one too many, and the system's own error where it cannot be read.
 */
export const inventoryOf = (dir: string): string => {
  const rows: Row[] = []
  for (const row of rowsBelow(dir, '/')) {
    if (rows.length === producerLimits.stageFilesMax) throw new RangeError('a stage is too full')
    rows.push(row)
  }
  return sha256Hex(canonicalJson(rows))
}

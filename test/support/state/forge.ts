/**
 * Writes what the program never would: true, chained records that break a rule, and single flipped
 * bits. For tests only.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalJson, sha256Hex } from '../../../src/base/canonical.js'
import { nodeFiles } from '../../../src/state/files.js'
import type { Files } from '../../../src/state/files.js'
import { readWhole } from '../../../src/state/files.js'
import {
  bindingOf, decodeLogHeader, encodeLogHeader, encodeRecord,
} from '../../../src/state/log/format.js'
import { logEpochs, placesOf } from '../../../src/state/paths.js'
import { scanRecords } from './records.js'

/** One forged change: a document to put, or `undefined` to remove it. */
export interface ForgedChange {
  readonly collection: string
  readonly id: string
  readonly doc?: unknown
  readonly partition?: 'one' | 'hash256'
}

const overwrite = (files: Files, path: string, bytes: Buffer): void => {
  const fd = files.open(path, 'readwrite')
  try {
    files.truncate(fd, 0)
    files.write(fd, bytes, 0)
    files.sync(fd)
  } finally {
    files.close(fd)
  }
}

/** Path of the newest log of a state directory. */
export const newestLog = (dir: string, files: Files = nodeFiles): string => {
  const places = placesOf(dir)
  const epoch = logEpochs(files.list(places.wal)).at(-1)
  if (epoch === undefined) throw new Error('no log')
  return places.log(epoch)
}

/** Appends a record whose checksums are all true, with any content. Answers its sequence. */
export const forgePayload = (dir: string, payload: string, files: Files = nodeFiles): number => {
  const path = newestLog(dir, files)
  const bytes = readWhole(files, path, Number.POSITIVE_INFINITY)
  const head = bytes === undefined ? undefined : decodeLogHeader(bytes)
  if (bytes === undefined || head === undefined) throw new Error('the log has no true header')
  const { header, end } = head
  const binding = bindingOf(header)
  const from = { sequence: header.base_sequence, chain: header.base_chain }
  const scan = scanRecords(binding, bytes.subarray(end), from)
  if (scan.tail !== 'clean') throw new Error('the log does not end clean')
  const last = scan.records.at(-1) ?? from
  const record = encodeRecord(binding, last.sequence + 1, last.chain, payload)
  overwrite(files, path, Buffer.concat([bytes, record.bytes]))
  return last.sequence + 1
}

/** Appends a true record that puts or removes documents without any rule being asked. */
export const forgeRecord = (
  dir: string, changes: readonly ForgedChange[],
  options: { readonly verb?: string; readonly at?: string; readonly files?: Files } = {},
): number => {
  const ops = changes.map(({ collection, id, doc, partition }) => {
    const kind = partition === 'hash256' ? 256 : 1
    return doc === undefined ? [collection, kind, id] : [collection, kind, id, doc]
  })
  const { at = '2026-01-01T00:00:00.000Z', verb = 'forged' } = options
  return forgePayload(dir, canonicalJson({ at, ops, verb }), options.files)
}

/** Flips one bit of a file: bit 0 to 7 of the byte at `offset`. */
export const flipBit = (path: string, offset: number, bit: number): void => {
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(offset) ^ (1 << bit), offset)
  writeFileSync(path, bytes)
}

/** Lays zeroes over a file from `offset` on, at most to its end. */
export const zeroBlock = (path: string, offset: number, length = 512): void => {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, offset, Math.min(bytes.length, offset + length)))
}

/** Cuts a file to its first `size` bytes. */
export const truncateTo = (path: string, size: number): void =>
  writeFileSync(path, readFileSync(path).subarray(0, size))

/** Rewrites the first line of a log with other members, its checksum true. */
export const forgeLogHeader = (
  path: string, change: Readonly<Record<string, unknown>>,
): void => {
  const bytes = readFileSync(path)
  const head = decodeLogHeader(bytes)
  if (head === undefined) throw new Error('the log has no true header')
  const line = encodeLogHeader({ ...head.header, ...change })
  writeFileSync(path, Buffer.concat([line, bytes.subarray(head.end)]))
}

/** Rewrites STATE with other members, its checksum true. */
export const forgeState = (dir: string, change: Readonly<Record<string, unknown>>): void => {
  const path = join(dir, 'STATE')
  const text = readFileSync(path, 'utf8')
  const value = JSON.parse(text.slice(0, text.lastIndexOf(' '))) as Record<string, unknown>
  const forged = canonicalJson({ ...value, ...change })
  writeFileSync(path, `${forged} ${sha256Hex(forged)}\n`)
}

/** Every file below a folder with its bytes as hex digests, to show that nothing changed. */
export const fingerprintOf = (dir: string): Record<string, string> => {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    found[path.slice(dir.length + 1)] = sha256Hex(readFileSync(path))
  }
  return found
}

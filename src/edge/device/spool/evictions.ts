/**
 * What left the spool unsent, one line of JSON each, written down before the capture goes (S-039).
 * The file is begun anew at 1 MiB, with the one before kept: numbers go on, so that nothing is lost
 * without a trace.
 */
import * as v from 'valibot'
import { closedObject, parseClosed, count, counted, iso } from '../../../base/schema.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import { readRange, syncDir, withFile, writeAll, type Files } from '../../../state/files.js'
import { dirname } from 'node:path'
import { requestIdShape } from './item.js'

/**
 * Why: it was too old, there were too many bytes or items, its source or name is blocked by now, or
 * what was refused for ever had to make room. `may_be_sent`: any of these, but the service was
 * contacted for it, and has it or not.
 */
const evictionReasons = ['age', 'bytes', 'items', 'blocked', 'aside', 'may_be_sent'] as const

/** One that left. */
export const evictionShape = v.strictObject({
  /** Counts every eviction of this device that left unsent, from 1; `may_be_sent` counts none. */
  number: count,
  at: iso,
  request_id: requestIdShape,
  bytes: counted,
  reason: v.picklist(evictionReasons),
  /** When it had come into the spool. */
  spooled_at: iso,
})
export type Eviction = v.InferOutput<typeof evictionShape>

const rowShape = closedObject(evictionShape.entries)
const fileBytesMax = 1024 * 1024
/** More than the longest line. */
const tailBytes = 1024

/** The record of evictions in one file. Its functions are called under the lock of the spool. */
export class Evictions {
  readonly #files: Files
  readonly #path: string

  constructor(files: Files, path: string) {
    this.#files = files
    this.#path = path
  }

  /** The last one; null where there is none. */
  last(): Eviction | null {
    return this.#lastOf(this.#path) ?? this.#lastOf(`${this.#path}.1`)
  }

  /**
   * Writes one down, durable. The same one twice in a row is one: a crash came between its record
   * and its end.
   */
  add(given: Omit<Eviction, 'number'>): Eviction {
    const last = this.last()
    if (last?.request_id === given.request_id && last.spooled_at === given.spooled_at) return last
    const unsent = given.reason === 'may_be_sent' ? 0 : 1
    const made = { number: (last?.number ?? 0) + unsent, ...given }
    const size = this.#files.stat(this.#path)?.size ?? 0
    if (size > fileBytesMax) this.#files.rename(this.#path, `${this.#path}.1`)
    withFile(this.#files, this.#path, 'append', (fd) => {
      // A line that a crash cut off is ended first; readers pass over it.
      writeAll(this.#files, fd, Buffer.from(`\n${JSON.stringify(made)}\n`), null)
      this.#files.sync(fd)
    })
    if (size === 0 || size > fileBytesMax) syncDir(this.#files, dirname(this.#path))
    return made
  }

  #lastOf(path: string): Eviction | null {
    const size = this.#files.stat(path)?.size ?? 0
    if (size === 0) return null
    const tail = withFile(this.#files, path, 'read', (fd) => {
      const at = Math.max(0, size - tailBytes)
      return readRange(this.#files, fd, at, Math.min(size, tailBytes))
    })
    const lines = tail.toString('utf8').split('\n').reverse()
    return lines.map(rowOf).find((row) => row !== null) ?? null
  }
}

const rowOf = (line: string): Eviction | null => {
  if (!line.startsWith('{')) return null
  try {
    const value = parseStrictJson(Buffer.from(line), { bytesMax: tailBytes, depthMax: 2 })
    return parseClosed(rowShape, value, { code: 'damaged', what: 'a line' })
  } catch {
    return null
  }
}

/**
 * Open segment files. A file is opened when a generation that names it is loaded and closed when no
 * such generation is in use any more, so that whoever reads a view goes on reading although a fold
 * has removed the name since.
 */
import { errnoOf, ioFailure, readRange, type Files } from '../files.js'
import { SallyportError } from '../../base/errors.js'
import type { Places } from '../paths.js'
import type { SegmentFacts } from '../segments/build.js'
import { BlockCache, Segment } from '../segments/read-segment.js'
import { Table } from '../segments/table.js'
import { missingFile, type Manifest } from './manifest.js'

/** Bytes of blocks that one process keeps; with their documents a few times as much. */
const cacheBytes = 12 * 1024 * 1024

/** Longest read that goes into the one buffer of a pool: every block but that of a long row. */
const sharedBytes = 128 * 1024

interface Handle {
  readonly segment: Segment
  /** Undefined where the file was not there, and once it is closed. */
  fd: number | undefined
  users: number
}

const keyOf = ({ name, sha256 }: SegmentFacts): string => `${name} ${sha256}`

/** The files of one generation, held open until it is let go. */
export interface Lease {
  readonly table: Table
  /** Whether a file that the manifest names was not there. */
  readonly incomplete: boolean
  /** Lets go; may run twice. */
  release(): void
}

/** Rows that a transaction asked for lie in a file that nobody has read into memory. */
export class NotLoaded extends Error {}

/** Files of one directory, shared by the generations of a process. */
export class SegmentPool {
  readonly #files: Files
  readonly #places: Places
  readonly #handles = new Map<string, Handle>()
  readonly #cache: BlockCache | undefined
  /** Whoever walks through a state reads thousands of blocks; each would be garbage at once. */
  #shared: Buffer | undefined
  #readsNothing = false

  /** `cached`: bytes of blocks that are kept, none where everything is read once. */
  constructor(files: Files, places: Places, cached: number = cacheBytes) {
    this.#cache = cached === 0 ? undefined : new BlockCache(cached)
    this.#files = files
    this.#places = places
  }

  /** Opens every file of a manifest's runs, newest first. */
  lease({ runs }: Pick<Manifest, 'runs'>): Lease {
    const held: Handle[] = []
    const take = (facts: SegmentFacts): Segment => {
      const handle = this.#take(facts)
      held.push(handle)
      return handle.segment
    }
    const table = new Table(runs.map((run) => run.files.map(take)))
    let released = false
    return {
      table,
      incomplete: held.some(({ fd }) => fd === undefined),
      release: () => {
        if (released) return
        released = true
        for (const handle of held) this.#let(handle)
      },
    }
  }

  /** What `fn` gives, which reads no file: what is not in memory is a `NotLoaded`. */
  readingNothing<T>(fn: () => T): T {
    this.#readsNothing = true
    try {
      return fn()
    } finally {
      this.#readsNothing = false
    }
  }

  /** Keeps at most so many bytes of blocks from now on. */
  keepAtMost(bytes: number): void {
    this.#cache?.keepAtMost(bytes)
  }

  #bufferFor(length: number): Buffer | undefined {
    if (length > sharedBytes) return undefined
    this.#shared ??= Buffer.allocUnsafeSlow(sharedBytes)
    return this.#shared
  }

  /** Closes every file, whoever still holds a lease: nothing is read through it any more. */
  close(): void {
    for (const handle of this.#handles.values()) this.#shut(handle)
    this.#handles.clear()
  }

  #take(facts: SegmentFacts): Handle {
    const known = this.#handles.get(keyOf(facts))
    const handle = known?.fd === undefined ? this.#open(facts) : known
    this.#handles.set(keyOf(facts), handle)
    handle.users += 1
    return handle
  }

  #open(facts: SegmentFacts): Handle {
    let why: unknown = missingFile()
    let opened: number | undefined
    try {
      opened = this.#files.open(this.#places.segment(facts.name), 'read')
      why = new TypeError('the store is closed')
    } catch (error) {
      // What is missing, or is no file, is damage for whoever needs these rows.
      if (error instanceof SallyportError) why = error
      else if (errnoOf(error) !== 'ENOENT') throw error
    }
    const read = (position: number, length: number): Buffer => {
      if (this.#readsNothing) throw new NotLoaded()
      if (handle.fd === undefined) throw why
      try {
        return readRange(this.#files, handle.fd, position, length, this.#bufferFor(length))
      } catch (error) {
        throw ioFailure(error, 'reading a collection')
      }
    }
    const segment = new Segment({ facts, read }, this.#cache)
    const handle: Handle = { segment, fd: opened, users: 0 }
    return handle
  }

  #let(handle: Handle): void {
    handle.users -= 1
    if (handle.users > 0) return
    const key = keyOf(handle.segment.facts)
    if (this.#handles.get(key) === handle) {
      this.#handles.delete(key)
      // Each fold gives a process that stays open other files: what it kept of these is waste.
      this.#cache?.forget(key)
    }
    this.#shut(handle)
  }

  #shut(handle: Handle): void {
    if (handle.fd !== undefined) this.#files.close(handle.fd)
    handle.fd = undefined
  }
}

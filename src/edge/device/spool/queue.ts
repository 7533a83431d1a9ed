/**
 * Captures in the order in which they came. Everything that limits need lies in the names: a number
 * that only grows, the bytes of this file and all before it, when it came, and its request id. So
 * first and last tell items and bytes, and neither a list of all nor a counter beside it exists
 * that a crash could leave untrue. Names lie 32 to a folder, 32 folders to a folder: finding first
 * and last reads a few short lists, however much waits.
 *
 * Every function here is called under the lock of the spool.
 */
import { join } from 'node:path'
import { ensureDir, errnoOf, namesIn, syncDir, type Files } from '../../../state/files.js'

/** One capture that waits. */
export interface Entry {
  readonly number: number
  /** Bytes of this file and of all that came before it. */
  readonly through: number
  /** When it came, milliseconds since 1970. */
  readonly cameMs: number
  readonly requestId: string
  readonly name: string
}

/** What waits. */
export interface Extent {
  readonly first: Entry
  readonly last: Entry
  /** Never below what is there; above it where somebody removed files by hand. */
  readonly items: number
  readonly bytes: number
}

const numberDigits = 16
const timeDigits = 14
const outerDigits = 12
const fanout = 32
const form = /^(\d{16})\.(\d{16})\.(\d{14})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
const outerForm = /^\d{12}$/
const innerForm = /^\d{2}$/
const numberMax = Number.MAX_SAFE_INTEGER

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0')

const nameOf = ({ number, through, cameMs, requestId }: Omit<Entry, 'name'>): string =>
  [pad(number, numberDigits), pad(through, numberDigits), pad(cameMs, timeDigits), requestId]
    .join('.')

const entryOf = (name: string): Entry | null => {
  const [, number, through, came, requestId] = form.exec(name) ?? []
  if (requestId === undefined) return null
  const [n, t] = [Number(number), Number(through)]
  if (n > numberMax || t > numberMax) return null
  return { number: n, through: t, cameMs: Number(came), requestId, name }
}

/** A time that a name can hold, whatever the clock says. */
const heldMs = (ms: number): number =>
  Math.min(Math.max(0, Math.floor(Number.isFinite(ms) ? ms : 0)), 10 ** timeDigits - 1)

/** The queue below one folder. */
export class Queue {
  readonly #files: Files
  readonly #dir: string

  constructor(files: Files, dir: string) {
    this.#files = files
    this.#dir = dir
  }

  pathOf({ number, name }: Pick<Entry, 'number' | 'name'>): string {
    return join(...this.#foldersOf(number), name)
  }

  /** What waits, or null for nothing. */
  extent(): Extent | null {
    const first = this.#end('first')
    const last = first === null ? null : this.#end('last')
    if (first === null || last === null) return null
    const size = this.#files.stat(this.pathOf(first))?.size ?? 0
    return {
      first, last,
      items: last.number - first.number + 1,
      bytes: last.through - first.through + size,
    }
  }

  /** The place of a further capture of so many bytes behind what waits; its folders are made. */
  next(extent: Extent | null, requestId: string, size: number, nowMs: number): Entry {
    const made = {
      number: (extent?.last.number ?? 0) + 1,
      through: (extent?.last.through ?? 0) + size,
      cameMs: heldMs(nowMs),
      requestId,
    }
    const [top, outer, inner] = this.#foldersOf(made.number)
    ensureDir(this.#files, join(top, outer))
    ensureDir(this.#files, join(top, outer, inner))
    return { ...made, name: nameOf(made) }
  }

  /** Makes a name durable that was put there. */
  sync(entry: Entry): void {
    syncDir(this.#files, join(...this.#foldersOf(entry.number)))
  }

  /** Gives an entry another time of coming: for one whose time lies in the future. */
  restamp(entry: Entry, nowMs: number): Entry {
    const made = { ...entry, cameMs: heldMs(nowMs) }
    const again = { ...made, name: nameOf(made) }
    this.#files.rename(this.pathOf(entry), this.pathOf(again))
    return again
  }

  /**
   * Makes the absence of an entry durable, and removes its folders when they are empty. Whoever
   * took the entry out meanwhile may have removed them.
   */
  left(entry: Entry): void {
    const [top, outer, inner] = this.#foldersOf(entry.number)
    for (const folder of [join(top, outer, inner), join(top, outer)]) {
      if (namesIn(this.#files, folder).length > 0) return syncDir(this.#files, folder)
      this.#dropEmpty(folder)
    }
    syncDir(this.#files, top)
  }

  #foldersOf(number: number): [string, string, string] {
    const inner = Math.floor(number / fanout)
    return [this.#dir, pad(Math.floor(inner / fanout), outerDigits), pad(inner % fanout, 2)]
  }

  #end(which: 'first' | 'last'): Entry | null {
    for (const outer of this.#names(this.#dir, which)) {
      if (!outerForm.test(outer)) continue
      const folder = join(this.#dir, outer)
      for (const inner of this.#names(folder, which)) {
        if (!innerForm.test(inner)) continue
        for (const name of this.#names(join(folder, inner), which)) {
          const entry = entryOf(name)
          if (entry !== null) return entry
        }
        // Left by a crash between two of its removals.
        this.#dropEmpty(join(folder, inner))
      }
      this.#dropEmpty(folder)
    }
    return null
  }

  #names(folder: string, which: 'first' | 'last'): string[] {
    const names = this.#files.list(folder)
    return which === 'first' ? names : names.reverse()
  }

  #dropEmpty(folder: string): void {
    try {
      this.#files.rmdir(folder)
    } catch (error) {
      // Something of somebody else's lies there: it stays.
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errnoOf(error))) throw error
    }
  }
}

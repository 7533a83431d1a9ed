/**
 * What one walk of a folder found and nobody has taken in yet. A scan reads only so many files
 * (S-130): where more are waiting, the next scan goes on with this walk in place of a new one, and
 * a file that is noticed meanwhile comes first.
 */
import { lstatSync } from 'node:fs'
import type { Candidate } from './intake.js'
import { marks } from './known-index.js'
import { pathBelow } from './names.js'
import type { SortedFiles } from './sort-files.js'
import type { Examiner } from './types.js'
import { isHidden, isImageName, type FileStamp, type Listing } from './walk.js'

/** Who examines images, made when the first one is to be looked into. */
type MakeExaminer = () => Examiner

/** The known files are written down again at most so often while a pass goes on, ms. */
const indexEveryMs = 10_000

const sameStamp = (a: FileStamp, b: FileStamp): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino

/** A file as it is now; null for what is none, is a link or cannot be looked at. */
const stampNow = (path: string | Buffer): FileStamp | null => {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat?.isFile() === true ? stat : null
  } catch {
    return null
  }
}

/** The files of one walk that wait. */
export class Pass {
  /** Marks of the files, see `marks`; grown with the listing. */
  #known: Uint8Array
  /** One for each file that waits to be read. */
  #waits: Uint8Array
  #waiting = 0
  #knownCount = 0
  #next = 0
  #indexAtMs = Number.NEGATIVE_INFINITY
  #fileOf: Map<string, number> | null = null
  #examiner: Examiner | null = null
  readonly #urgent: Candidate[] = []
  #isScanning = false
  /** One for each file that the scan under way has counted or begun. */
  #counted: Uint8Array
  /** Files that were not finished when they were first read, by their numbers. */
  readonly #postponed = new Map<number, Candidate>()
  /** Names of counted files that a notice was about: the next scan looks at them. */
  readonly #noticed = new Set<string>()
  readonly #ordered: readonly Candidate[]
  /** Files that the list of known ones had missed when the walk was sorted. */
  readonly missedByIndex: number
  readonly hidden: SortedFiles['hidden']

  constructor(
    readonly folder: string, readonly listing: Listing, sorted: SortedFiles,
    readonly makeExaminer: MakeExaminer,
  ) {
    this.#known = sorted.known
    this.#waits = new Uint8Array(sorted.known.length)
    this.#counted = new Uint8Array(sorted.known.length)
    this.#ordered = sorted.candidates
    this.missedByIndex = sorted.missedByIndex
    this.hidden = sorted.hidden
    for (const { file } of sorted.candidates) this.#waits[file] = 1
    this.#waiting = sorted.candidates.length
    for (const mark of sorted.known) if (mark === marks.known) this.#knownCount += 1
  }

  /** Files that wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** Files of the walk that a committed row is about. */
  get knownCount(): number {
    return this.#knownCount
  }

  /** The mark of each file of the listing. */
  get known(): Uint8Array {
    return this.#known
  }

  /** One for all scans of this pass. */
  get examiner(): Examiner {
    this.#examiner ??= this.makeExaminer()
    return this.#examiner
  }

  /** A scan begins: it counts each file once (S-131), and the known ones are counted already. */
  begin(): void {
    this.#isScanning = true
    this.#counted = this.#known.map((mark) => (mark === marks.known ? 1 : 0))
  }

  /**
   * A scan ended: what it left unfinished, and what was noticed behind its reading, waits for the
   * next one.
   */
  end(unfinished: readonly Candidate[]): void {
    this.#isScanning = false
    this.#counted.fill(0)
    for (const candidate of unfinished) this.#wait(candidate.file)
    this.#urgent.push(...unfinished, ...this.#postponed.values())
    this.#postponed.clear()
    const names = [...this.#noticed]
    this.#noticed.clear()
    this.urge(names)
  }

  /** The file that is to be read next: noticed ones before all others. */
  next(): Candidate | null {
    for (let one = this.#urgent.shift(); one !== undefined; one = this.#urgent.shift()) {
      if (this.#begins(one)) return one
    }
    while (this.#next < this.#ordered.length) {
      const one = this.#ordered[this.#next] as Candidate
      this.#next += 1
      if (this.#begins(one)) return one
    }
    return null
  }

  /** Files that a notice was about, latin1 below the folder: what is new of them comes first. */
  urge(names: readonly string[]): void {
    for (const name of names) this.#urgeOne(name)
  }

  /** It was not finished when it was read: it waits behind all others, or for its notice. */
  postpone({ file, name }: Candidate): void {
    this.#counted[file] = 0
    this.#wait(file)
    this.#postponed.set(file, { file, name, isUrgent: true })
  }

  /** The next of the postponed files. */
  nextPostponed(): Candidate | null {
    for (const one of this.#postponed.values()) if (this.#begins(one)) return one
    return null
  }

  /** A committed row is about the file as it was read. */
  markKnown(file: number, stamp: FileStamp): void {
    this.listing.restamp(file, stamp)
    if (this.#known[file] === marks.known) return
    this.#known[file] = marks.known
    this.#knownCount += 1
  }

  /** Whether the known files are to be written down now. */
  isIndexDue(nowMs: number): boolean {
    const isDue = this.#waiting === 0 || nowMs - this.#indexAtMs >= indexEveryMs
    if (isDue) this.#indexAtMs = nowMs
    return isDue
  }

  async close(): Promise<void> {
    await this.#examiner?.close()
    this.#examiner = null
  }

  #begins({ file }: Candidate): boolean {
    if (this.#waits[file] !== 1) return false
    this.#postponed.delete(file)
    this.#waits[file] = 0
    this.#counted[file] = 1
    this.#waiting -= 1
    return true
  }

  #wait(file: number): void {
    if (this.#waits[file] === 1) return
    this.#waits[file] = 1
    this.#waiting += 1
    if (this.#known[file] !== marks.known) return
    // Another file under its name: no row is about this one.
    this.#known[file] = marks.unknown
    this.#knownCount -= 1
  }

  #urgeOne(name: string): void {
    if (!isImageName(name) || name.split('/').some(isHidden)) return
    const stamp = stampNow(pathBelow(this.folder, name))
    if (stamp === null) return
    const { unreadable } = this.listing
    // Read twice in one scan it would be counted twice: whether it changed is told afterwards.
    if (this.#isScanning && unreadable.has(name)) return void this.#noticed.add(name)
    const file = this.#numberOf(name, stamp)
    if (this.#counted[file] === 1) return void this.#noticed.add(name)
    unreadable.delete(name)
    const isTaken = this.#known[file] === marks.known
      && sameStamp(this.listing.stampOf(file), stamp)
    if (isTaken) return
    this.#wait(file)
    this.#urgent.push({ file, name, isUrgent: true })
  }

  /** Its number in the walk; one that came behind it gets the next. */
  #numberOf(name: string, stamp: FileStamp): number {
    this.#fileOf ??= new Map(this.listing.names.map((one, file) => [one, file]))
    const known = this.#fileOf.get(name)
    if (known !== undefined) return known
    const file = this.listing.count
    this.listing.add(name, stamp)
    this.#fileOf.set(name, file)
    if (file >= this.#known.length) {
      this.#known = grown(this.#known)
      this.#waits = grown(this.#waits)
      this.#counted = grown(this.#counted)
    }
    return file
  }
}

const leastGrown = 64

const grown = (bytes: Uint8Array): Uint8Array => {
  const larger = new Uint8Array(Math.max(leastGrown, bytes.length * 2))
  larger.set(bytes)
  return larger
}

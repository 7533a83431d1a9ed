/**
 * The index of a segment file as its bytes, of which one line is parsed when it is looked at: a
 * file has hundreds of lines and a lookup uses ten, and as objects the indexes of a large state
 * would be most of what a process holds.
 */
import { isIndexLine, type IndexLine } from './build.js'

/**
 * The end of a line, the comma and the start of the next. A line ends with a digest, so that a
 * digit stands before its quote; elsewhere these bytes are the end of an id, and before the first
 * quote stands a backslash (it is escaped) or a comma (it opens that id).
 */
const between = Buffer.from('"],["')
const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66))
const bracket = 0x5b

/** How the bytes of a whole index begin and end. */
const [opening, closing] = ['[[', ']]\n'] as const

const isWhole = (bytes: Buffer): boolean => bytes.length > opening.length + closing.length
  && bytes.toString('latin1', 0, opening.length) === opening
  && bytes.toString('latin1', bytes.length - closing.length) === closing

/** Where each line starts, and where one more would. */
const startsOf = (bytes: Buffer): Uint32Array => {
  const starts = [1]
  for (let at = bytes.indexOf(between); at !== -1; at = bytes.indexOf(between, at + 1)) {
    if (isDigit(bytes[at - 1])) starts.push(at + between.length - 2)
  }
  return Uint32Array.from([...starts, bytes.length - closing.length + 2])
}

/** Lines at hand, at most: every search goes by the same few in the middle. */
const parsedMax = 64

/** Lines of an index whose digest was true. */
export class IndexLines {
  readonly #bytes: Buffer
  readonly #starts: Uint32Array
  readonly #parsed = new Map<number, IndexLine>()

  /** Keeps a copy of the bytes; none at all of what is no index. */
  constructor(bytes: Buffer) {
    this.#bytes = isWhole(bytes) ? Buffer.from(bytes) : Buffer.alloc(0)
    this.#starts = this.#bytes.length === 0 ? new Uint32Array() : startsOf(this.#bytes)
  }

  /** How many there are; 0 where the bytes are no index. */
  get count(): number {
    return Math.max(0, this.#starts.length - 1)
  }

  /** The n-th line; undefined where it is none. */
  line(number: number): IndexLine | undefined {
    const known = this.#parsed.get(number)
    if (known !== undefined) return known
    const line = this.#parse(number)
    if (line === undefined) return undefined
    if (this.#parsed.size >= parsedMax) this.#parsed.clear()
    this.#parsed.set(number, line)
    return line
  }

  #parse(number: number): IndexLine | undefined {
    const [from, end] = [this.#starts[number], this.#starts[number + 1]]
    if (from === undefined || end === undefined || this.#bytes[from] !== bracket) return undefined
    try {
      const value: unknown = JSON.parse(this.#bytes.toString('utf8', from, end - 1))
      return isIndexLine(value) ? value : undefined
    } catch {
      return undefined
    }
  }
}

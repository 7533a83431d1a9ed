/** The bits of a scan (ITU-T T.81, annex F), looked up and passed over. */
import {
  codeBitsMax, differenceBitsMax, eachCode, endsBlock, stepOf, valueBitsOf, type CodeKind,
  type HuffmanCode,
} from './huffman-code.js'
import { ImageProblem } from './problem.js'

/** A Huffman code, for looking up and for passing over. */
export interface HuffmanTable {
  /**
   * By the next 16 bits. DC tables: code length in the high byte, symbol in the low one. AC tables:
   * bits of code and value together in the high byte, coefficients to step on in the low one. 0 is
   * no code.
   */
  readonly full: Uint16Array
  /**
   * By the next 12 bits, AC tables only: as many symbols as lie in them whole with their values.
   * Bits of all of them in the high byte; below, coefficients to step on, and 128 when the last one
   * ends the block. 0: not even one. It is what makes a baseline file quick: the full table does
   * not fit a processor's nearest memory, and two symbols in three come with another.
   */
  readonly quick: Uint16Array
}

/** Steps on behind the last coefficient of a block. */
const endOfBlock = 64
const quickBits = 12
const endsWindow = 128

const entryOf = (kind: CodeKind, length: number, symbol: number): number => {
  if (kind === 'dc') return (length << 8) | symbol
  const step = endsBlock(symbol) ? endOfBlock : stepOf(symbol)
  return ((length + valueBitsOf(symbol)) << 8) | step
}

const fullTable = (code: HuffmanCode): Uint16Array => {
  const table = new Uint16Array(1 << codeBitsMax)
  eachCode(code, (length, symbol, from, to) => {
    table.fill(entryOf(code.kind, length, symbol), from, to)
  })
  return table
}

/** Symbols of a window that lie in it whole; more steps than a block has are another window's. */
const quickEntry = (full: Uint16Array, window: number): number => {
  let used = 0
  let steps = 0
  for (;;) {
    const entry = full[((window << used) & 0xfff) << (16 - quickBits)]!
    const bits = entry >> 8
    const step = entry & 0xff
    if (entry === 0 || used + bits > quickBits) break
    if (step === endOfBlock) return ((used + bits) << 8) | endsWindow | steps
    if (steps + step >= endOfBlock) break
    used += bits
    steps += step
  }
  return (used << 8) | steps
}

const noWindows = new Uint16Array(0)

/** Tables that were made, as long as their codes are held. */
const made = new WeakMap<HuffmanCode, HuffmanTable>()

const newTable = (code: HuffmanCode): HuffmanTable => {
  const full = fullTable(code)
  if (code.kind === 'dc') return { full, quick: noWindows }
  const quick = new Uint16Array(1 << quickBits)
  for (let window = 0; window < quick.length; window += 1) {
    quick[window] = quickEntry(full, window)
  }
  return { full, quick }
}

/** The tables of a code, 136 KiB; made once for each. */
export const tableOf = (code: HuffmanCode): HuffmanTable => {
  const table = made.get(code) ?? newTable(code)
  made.set(code, table)
  return table
}

const symbols = new WeakMap<HuffmanCode, Uint16Array>()

/**
 * Length and symbol of the code at the front of 16 bits, by these bits; 0 is no code. 128 KiB, made
 * once for each code.
 */
export const symbolsOf = (code: HuffmanCode): Uint16Array => {
  const known = symbols.get(code)
  if (known !== undefined) return known
  const table = new Uint16Array(1 << codeBitsMax)
  eachCode(code, (length, symbol, from, to) => { table.fill((length << 8) | symbol, from, to) })
  symbols.set(code, table)
  return table
}

/** Most bytes that may be read behind the end of a scan: a whole symbol's worth of padding. */
const overrunBytesMax = 64

/**
 * Reads bits of one scan; stuffing bytes are taken out, a marker ends the data. The next bits stand
 * at the top of 32; one filling leaves 25 of them at least.
 */
export class BitReader {
  #bits = 0
  #count = 0
  #overrun = 0

  constructor(readonly bytes: Uint8Array, public at: number) {}

  #fill(): void {
    const { bytes } = this
    let bits = this.#bits
    let count = this.#count
    let at = this.at
    while (count <= 24) {
      let byte = bytes[at]
      if (byte === 0xff && bytes[at + 1] === 0) at += 2
      else if (byte === undefined || byte === 0xff) {
        this.#overrun += 1
        if (this.#overrun > overrunBytesMax) throw new ImageProblem('truncated')
        byte = 0
      } else at += 1
      bits |= byte << (24 - count)
      count += 8
    }
    this.#keep(bits, count, at)
  }

  #skip(length: number): void {
    this.#fill()
    this.#drop(length)
  }

  #keep(bits: number, count: number, at: number): void {
    this.#bits = bits
    this.#count = count
    this.at = at
  }

  /** A DC difference: its size by the table, then as many bits. */
  difference({ full }: HuffmanTable): number {
    const size = this.symbol(full)
    if (size > differenceBitsMax) throw new ImageProblem('data_damaged')
    return this.value(size)
  }

  /** The symbol of the next code, by a table of lengths and symbols. */
  symbol(table: Uint16Array): number {
    if (this.#count < 16) this.#fill()
    const entry = table[this.#bits >>> 16]!
    if (entry === 0) throw new ImageProblem('data_damaged')
    this.#drop(entry >> 8)
    return entry & 0xff
  }

  /** A value of up to 15 bits (T.81, EXTEND). */
  value(size: number): number {
    if (size === 0) return 0
    const value = this.number(size)
    return value < 1 << (size - 1) ? value - (1 << size) + 1 : value
  }

  /** One to 15 bits as they are. */
  number(size: number): number {
    if (this.#count < size) this.#fill()
    const value = this.#bits >>> (32 - size)
    this.#drop(size)
    return value
  }

  /** Passes over the AC values of one block; locals, because this loop is most of the work. */
  passBlock({ full, quick }: HuffmanTable): void {
    const { bytes } = this
    let bits = this.#bits
    let count = this.#count
    let at = this.at
    for (let k = 1; k < endOfBlock;) {
      while (count <= 24) {
        const byte = bytes[at]
        if (byte === undefined || byte === 0xff) {
          this.#keep(bits, count, at)
          this.#fill()
          bits = this.#bits
          count = this.#count
          at = this.at
        } else {
          bits |= byte << (24 - count)
          count += 8
          at += 1
        }
      }
      const several = quick[bits >>> (32 - quickBits)]!
      const to = k + (several & (endsWindow - 1))
      if (several !== 0 && to < endOfBlock) {
        bits <<= several >> 8
        count -= several >> 8
        if ((several & endsWindow) !== 0) break
        k = to
        continue
      }
      const entry = full[bits >>> 16]!
      if (entry === 0) throw new ImageProblem('data_damaged')
      const length = entry >> 8
      k += entry & 0xff
      if (length <= count) {
        bits <<= length
        count -= length
      } else {
        // 26 bits at most are wanted and 25 are there: the last one comes with the next filling.
        this.#keep(0, 0, at)
        this.#skip(length - count)
        bits = this.#bits
        count = this.#count
        at = this.at
      }
    }
    this.#keep(bits, count, at)
  }

  /** One bit. */
  bit(): number {
    if (this.#count < 1) this.#fill()
    const value = this.#bits >>> 31
    this.#drop(1)
    return value
  }

  #drop(count: number): void {
    this.#bits <<= count
    this.#count -= count
  }

  /** Goes on behind a restart marker; false when there is none at this place. */
  restart(): boolean {
    this.#bits = 0
    this.#count = 0
    this.#overrun = 0
    while (this.bytes[this.at] === 0xff && this.bytes[this.at + 1] === 0xff) this.at += 1
    const marker = this.bytes[this.at + 1] ?? 0
    if (this.bytes[this.at] !== 0xff || marker < 0xd0 || marker > 0xd7) return false
    this.at += 2
    return true
  }
}

/** Huffman codes and the bits of a scan (ITU T.81, annexes C and F). */
import { ImageProblem } from './problem.js'

/**
 * By the next 16 bits. DC tables: code length in the high byte, symbol in the low one. AC tables:
 * bits of code and value together in the high byte, coefficients to step on in the low one. 0 is
 * no code.
 */
export type HuffmanTable = Uint16Array

/** Whether a table is for DC or for AC values. */
export type TableKind = 'dc' | 'ac'

/** Steps on behind the last coefficient of a block. */
const endOfBlock = 64

const entryOf = (kind: TableKind, length: number, symbol: number): number => {
  if (kind === 'dc') return (length << 8) | symbol
  const bits = symbol & 15
  const step = bits === 0 && symbol !== 0xf0 ? endOfBlock : (symbol >> 4) + 1
  return ((length + bits) << 8) | step
}

/** Builds a table from the 16 counts and the symbols. Throws `data_damaged` when they overflow. */
export const buildTable = (
  kind: TableKind, counts: Uint8Array, symbols: Uint8Array,
): HuffmanTable => {
  const table = new Uint16Array(65_536)
  let code = 0
  let next = 0
  for (let length = 1; length <= 16; length += 1) {
    for (let i = 0; i < (counts[length - 1] ?? 0); i += 1) {
      const from = code << (16 - length)
      const to = from + (1 << (16 - length))
      if (to > 65_536 || next >= symbols.length) throw new ImageProblem('data_damaged')
      table.fill(entryOf(kind, length, symbols[next]!), from, to)
      next += 1
      code += 1
    }
    code <<= 1
  }
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

  /** A DC difference: its size by the table, then as many bits (T.81, EXTEND). */
  difference(table: HuffmanTable): number {
    if (this.#count < 16) this.#fill()
    const entry = table[this.#bits >>> 16]!
    const size = entry & 0xff
    if (entry === 0 || size > 11) throw new ImageProblem('data_damaged')
    this.#drop(entry >> 8)
    if (size === 0) return 0
    if (this.#count < size) this.#fill()
    const value = this.#bits >>> (32 - size)
    this.#drop(size)
    return value < 1 << (size - 1) ? value - (1 << size) + 1 : value
  }

  /** Passes over the AC values of one block; locals, because this loop is most of the work. */
  passBlock(table: HuffmanTable): void {
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
      const entry = table[bits >>> 16]!
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

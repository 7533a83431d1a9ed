/** Huffman codes and the bits of a scan (ITU T.81, annexes C and F). */
import { ImageProblem } from './problem.js'

/** By the next 16 bits: code length in the high byte, symbol in the low one; 0 is no code. */
export type HuffmanTable = Uint16Array

/** Builds a table from the 16 counts and the symbols. Throws `data_damaged` when they overflow. */
export const buildTable = (counts: Uint8Array, symbols: Uint8Array): HuffmanTable => {
  const table = new Uint16Array(65_536)
  let code = 0
  let next = 0
  for (let length = 1; length <= 16; length += 1) {
    for (let i = 0; i < (counts[length - 1] ?? 0); i += 1) {
      const from = code << (16 - length)
      const to = from + (1 << (16 - length))
      if (to > 65_536 || next >= symbols.length) throw new ImageProblem('data_damaged')
      table.fill((length << 8) | symbols[next]!, from, to)
      next += 1
      code += 1
    }
    code <<= 1
  }
  return table
}

/** Most bytes that may be read behind the end of a scan: a whole symbol's worth of padding. */
const overrunBytesMax = 64

/** Reads bits of one scan; stuffing bytes are taken out, a marker ends the data. */
export class BitReader {
  #bits = 0
  #count = 0
  #overrun = 0

  constructor(readonly bytes: Uint8Array, public at: number) {}

  #fill(): void {
    while (this.#count <= 16) {
      let byte = this.bytes[this.at]
      if (byte === undefined || (byte === 0xff && this.bytes[this.at + 1] !== 0)) {
        this.#overrun += 1
        if (this.#overrun > overrunBytesMax) throw new ImageProblem('truncated')
        byte = 0
      } else this.at += byte === 0xff ? 2 : 1
      this.#bits = ((this.#bits << 8) | byte) & 0xffffff
      this.#count += 8
    }
  }

  /** The next symbol of a table. */
  symbol(table: HuffmanTable): number {
    if (this.#count < 16) this.#fill()
    const entry = table[(this.#bits >> (this.#count - 16)) & 0xffff]!
    if (entry === 0) throw new ImageProblem('data_damaged')
    this.#drop(entry >> 8)
    return entry & 0xff
  }

  #drop(count: number): void {
    this.#count -= count
    this.#bits &= (1 << this.#count) - 1
  }

  /** So many bits, at most 16. */
  take(count: number): number {
    if (count === 0) return 0
    if (this.#count < count) this.#fill()
    const value = this.#bits >> (this.#count - count)
    this.#drop(count)
    return value
  }

  /** Passes over so many bits, at most 16. */
  skip(count: number): void {
    if (this.#count < count) this.#fill()
    this.#drop(count)
  }

  /** A signed value of so many bits (T.81, EXTEND). */
  signed(count: number): number {
    if (count === 0) return 0
    const value = this.take(count)
    return value < 1 << (count - 1) ? value - (1 << count) + 1 : value
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

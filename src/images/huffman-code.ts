/** A Huffman code as a JPEG defines it (ITU-T T.81, annex C): checked, not yet made a table of. */
import { ImageProblem } from './problem.js'

/** Whether a code is for DC or for AC values. */
export type CodeKind = 'dc' | 'ac'

/** The longest code, bits. */
export const codeBitsMax = 16

/** Codes of 1 to 16 bits, in their order. */
export interface HuffmanCode {
  readonly kind: CodeKind
  /** How many codes there are of each length. */
  readonly counts: Uint8Array
  readonly symbols: Uint8Array
}

/**
 * Calls `take` for every code in order with its length and symbol, and with the values of 16 bits
 * that begin with it: `from` to before `to`.
 */
export const eachCode = (
  { counts, symbols }: HuffmanCode,
  take: (length: number, symbol: number, from: number, to: number) => void,
): void => {
  let from = 0
  let next = 0
  for (let length = 1; length <= codeBitsMax; length += 1) {
    for (let i = 0; i < counts[length - 1]!; i += 1) {
      const to = from + (1 << (codeBitsMax - length))
      take(length, symbols[next]!, from, to)
      from = to
      next += 1
    }
  }
}

/**
 * A code of 16 counts and as many symbols as these say. Throws `data_damaged` when its codes do not
 * fit into their lengths; the bytes are copied.
 */
export const codeOf = (kind: CodeKind, counts: Uint8Array, symbols: Uint8Array): HuffmanCode => {
  let room = 1 << codeBitsMax
  for (let length = 1; length <= codeBitsMax; length += 1) {
    room -= counts[length - 1]! << (codeBitsMax - length)
  }
  if (room < 0) throw new ImageProblem('data_damaged')
  return { kind, counts: Uint8Array.from(counts), symbols: Uint8Array.from(symbols) }
}

/** Bits of an AC symbol's value. */
export const valueBitsOf = (symbol: number): number => symbol & 15

/** Whether an AC symbol ends its block: no value follows, and it is not sixteen zeros. */
export const endsBlock = (symbol: number): boolean =>
  valueBitsOf(symbol) === 0 && symbol !== 0xf0

/** Coefficients that an AC symbol which does not end its block steps on: zeros and one more. */
export const stepOf = (symbol: number): number => (symbol >> 4) + 1

/** Most bits of a DC difference in a file of 8 bits a sample. */
export const differenceBitsMax = 11

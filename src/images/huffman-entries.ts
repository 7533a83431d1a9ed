/** Tables of a Huffman code as huffman.wat looks them up: the full one behind a quick one. */
import {
  codeBitsMax, differenceBitsMax, eachCode, endsBlock, stepOf, valueBitsOf, type HuffmanCode,
} from './huffman-code.js'

/** Bits by which a quick table is looked up. */
const quickBits = { ac: 12, dc: 10 } as const
const fullEntries = 1 << codeBitsMax
/** Entries are 16 bits: in the low 6 the bits to pass over, what is told above them. */
const skipBits = 6
const blockValues = 64
/** Not even one code lies in the window. */
const nothing = 1_023 << skipBits

/** Bytes of both tables of a code. */
export const tableBytes = {
  ac: 2 * ((1 << quickBits.ac) + fullEntries), dc: 2 * ((1 << quickBits.dc) + fullEntries),
} as const

/** One symbol: its code and its value to pass over; 0 for a difference that there is not. */
const entryOf = ({ kind }: HuffmanCode, length: number, symbol: number): number => {
  if (kind === 'dc') {
    return symbol > differenceBitsMax ? 0 : (symbol << skipBits) | (length + symbol)
  }
  const steps = endsBlock(symbol) ? blockValues : stepOf(symbol)
  return (steps << skipBits) | (length + valueBitsOf(symbol))
}

/**
 * All symbols whose codes lie in a window; only the last one's value may go on behind it. More
 * steps than a block has are another window's.
 */
const severalOf = (short: Uint16Array, window: number): number => {
  let used = 0
  let steps = 0
  while (used < quickBits.ac) {
    const known = short[(window << used) & (short.length - 1)]!
    const length = known >> 8
    if (known === 0 || used + length > quickBits.ac) break
    const symbol = known & 0xff
    if (endsBlock(symbol)) return ((steps + blockValues) << skipBits) | (used + length)
    if (steps + stepOf(symbol) >= blockValues) break
    used += length + valueBitsOf(symbol)
    steps += stepOf(symbol)
  }
  return used === 0 ? nothing : (steps << skipBits) | used
}

/** Length and symbol of the codes that are no longer than a window, by the window. */
const shortCodes = (code: HuffmanCode): Uint16Array => {
  const unseen = codeBitsMax - quickBits.ac
  const short = new Uint16Array(1 << quickBits.ac)
  eachCode(code, (length, symbol, from, to) => {
    if (length <= quickBits.ac) short.fill((length << 8) | symbol, from >> unseen, to >> unseen)
  })
  return short
}

/** Writes both tables of a code into `tableBytes` of zeros. */
export const writeEntries = (code: HuffmanCode, entries: Uint16Array): void => {
  const bits = quickBits[code.kind]
  const quick = entries.subarray(0, 1 << bits)
  const full = entries.subarray(1 << bits)
  eachCode(code, (length, symbol, from, to) => {
    const entry = entryOf(code, length, symbol)
    full.fill(entry, from, to)
    const unseen = codeBitsMax - bits
    if (length <= bits) quick.fill(entry, from >> unseen, to >> unseen)
  })
  if (code.kind === 'dc') return
  const short = shortCodes(code)
  for (let window = 0; window < quick.length; window += 1) {
    quick[window] = severalOf(short, window)
  }
}

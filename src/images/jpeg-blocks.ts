/**
 * The quantized coefficients of a JPEG's blocks (ITU-T T.81, annexes F and G), in the order of the
 * file, 64 a block. What a decoder would only be lenient about is refused: such a picture is not
 * compared.
 */
import { BitReader, symbolsOf, tableOf, type HuffmanTable } from './jpeg-huffman.js'
import type { ScanHeader } from './jpeg-head.js'
import { eachBlock, type BlockReader, type Component, type Frame } from './jpeg-scan.js'
import { ImageProblem } from './problem.js'

/** Coefficients of a block. */
export const blockValues = 64

type Coefficients = ReadonlyMap<Component, Int16Array>

const damaged = (): ImageProblem => new ImageProblem('data_damaged')

/** Sixteen bits and no more: a value that does not fit would stand for another one. */
const put = (values: Int16Array, at: number, value: number): void => {
  values[at] = value
  if (values[at] !== value) throw damaged()
}

interface Part {
  readonly component: Component
  readonly values: Int16Array
  readonly dc: HuffmanTable | undefined
  readonly ac: Uint16Array | undefined
}

/** Reads a block whose first coefficient stands at `at`. */
type ReadBlock = (bits: BitReader, part: Part, at: number) => void

const baselineBlock: ReadBlock = (bits, { component, values, dc, ac }, at) => {
  component.previous += bits.difference(dc!)
  put(values, at, component.previous)
  for (let k = 1; k < blockValues; k += 1) {
    const symbol = bits.symbol(ac!)
    const size = symbol & 15
    if (size === 0 && symbol !== 0xf0) return
    k += symbol >> 4
    if (k >= blockValues) throw damaged()
    if (size > 0) values[at + k] = bits.value(size)
  }
}

const firstDc = (low: number): ReadBlock => (bits, { component, values, dc }, at) => {
  component.previous += bits.difference(dc!)
  put(values, at, component.previous * 2 ** low)
}

const refinedDc = (low: number): ReadBlock => (bits, { values }, at) => {
  if (bits.bit() === 1) values[at]! |= 1 << low
}

/** Blocks that a code has passed over, of a progressive scan of AC values. */
interface Skipped { blocks: number }

/** The blocks that follow the one of this code and end with it. */
const blocksOf = (bits: BitReader, run: number): number =>
  (1 << run) - 1 + (run === 0 ? 0 : bits.number(run))

const firstAc = ({ first, last, low }: ScanHeader, skipped: Skipped): ReadBlock =>
  (bits, { values, ac }, at) => {
    if (skipped.blocks > 0) {
      skipped.blocks -= 1
      return
    }
    for (let k = first; k <= last; k += 1) {
      const symbol = bits.symbol(ac!)
      const [run, size] = [symbol >> 4, symbol & 15]
      if (size === 0 && run < 15) {
        skipped.blocks = blocksOf(bits, run)
        return
      }
      k += run
      if (k > last) throw damaged()
      if (size > 0) put(values, at + k, bits.value(size) * 2 ** low)
    }
  }

/** One more bit of a coefficient that is not zero. */
const refine = (bits: BitReader, values: Int16Array, at: number, step: number): void => {
  const value = values[at]!
  if (bits.bit() === 1 && (value & step) === 0) put(values, at, value + (value < 0 ? -step : step))
}

/** Refines what is not zero from `k` on and passes over `zeros`; gives the place behind them. */
const refineOver = (
  bits: BitReader, values: Int16Array, at: number, range: readonly [number, number],
  zeros: number, step: number,
): number => {
  let left = zeros
  let k = range[0]
  for (; k <= range[1]; k += 1) {
    if (values[at + k] !== 0) refine(bits, values, at + k, step)
    else if (left === 0) return k
    else left -= 1
  }
  return k
}

const refinedAc = ({ first, last, low }: ScanHeader, skipped: Skipped): ReadBlock => {
  const step = 1 << low
  return (bits, { values, ac }, at) => {
    let k = first
    while (skipped.blocks === 0 && k <= last) {
      const symbol = bits.symbol(ac!)
      const [run, size] = [symbol >> 4, symbol & 15]
      if (size > 1) throw damaged()
      if (size === 0 && run < 15) {
        skipped.blocks = blocksOf(bits, run) + 1
        break
      }
      const fresh = size === 0 ? 0 : bits.bit() === 1 ? step : -step
      k = refineOver(bits, values, at, [k, last], run, step)
      if (k > last) {
        if (fresh !== 0) throw damaged()
        return
      }
      if (fresh !== 0) put(values, at + k, fresh)
      k += 1
    }
    if (skipped.blocks === 0) return
    refineOver(bits, values, at, [k, last], blockValues, step)
    skipped.blocks -= 1
  }
}

const readerOf = (scan: ScanHeader, skipped: Skipped): ReadBlock => {
  if (!scan.progressive) return baselineBlock
  if (scan.isDc) return scan.refines ? refinedDc(scan.low) : firstDc(scan.low)
  return scan.refines ? refinedAc(scan, skipped) : firstAc(scan, skipped)
}

/** A scan that names what it reads, and reads what its kind may (T.81, G.1.1.1.1). */
const requireSound = (scan: ScanHeader): void => {
  const { progressive, isDc, first, last, low, parts, refines } = scan
  for (const { dc, ac } of parts) {
    const needsDc = isDc && !refines
    const needsAc = !progressive || !isDc
    if ((needsDc && dc === undefined) || (needsAc && ac === undefined)) throw damaged()
  }
  if (!progressive) return
  const range = isDc ? last === 0 : first <= last && last < blockValues && parts.length === 1
  if (!range || low > 13) throw damaged()
}

/**
 * Reads the data of a scan from `at` on into the coefficients; gives a place in or behind the data.
 * Throws `ImageProblem`.
 */
export const readCoefficients = (
  bytes: Uint8Array, at: number, frame: Frame, scan: ScanHeader, all: Coefficients,
): number => {
  requireSound(scan)
  const bits = new BitReader(bytes, at)
  const skipped = { blocks: 0 }
  const read = readerOf(scan, skipped)
  const parts = scan.parts.map(({ component, dc, ac }): Part => ({
    component, values: all.get(component)!,
    dc: dc === undefined ? undefined : tableOf(dc),
    ac: ac === undefined ? undefined : symbolsOf(ac),
  }))
  const reader: BlockReader = {
    block: (part, index) => read(bits, parts[part]!, index * blockValues),
    reset() {
      skipped.blocks = 0
      for (const { component } of parts) component.previous = 0
    },
  }
  eachBlock(bits, frame, scan, reader)
  return bits.at
}

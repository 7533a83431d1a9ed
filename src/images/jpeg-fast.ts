/**
 * The fast way for a scan of a baseline JPEG, in WebAssembly SIMD (huffman.wat). It gives up on
 * whatever is not as it should be, and the reader in jpeg.ts has the word on that: what is read
 * this way is what that one reads, and nothing is refused here.
 */
import type { CodeKind, HuffmanCode } from './huffman-code.js'
import { tableBytes, writeEntries } from './huffman-entries.js'
import { huffmanWasm } from './huffman-wasm.js'
import { makeRoom, wasmProgram, type WasmMemory } from './wasm.js'

/** One component's part in a scan. */
interface FastPart {
  /** Blocks of one unit. */
  readonly h: number
  readonly v: number
  readonly dc: HuffmanCode
  readonly ac: HuffmanCode
  /** Whether its DC values are wanted: one component's are. */
  readonly kept: boolean
}

interface FastScan {
  /** From the first byte of its data on. */
  readonly data: Uint8Array
  readonly parts: readonly FastPart[]
  /** Units of the scan. */
  readonly columns: number
  readonly rows: number
  /** Blocks from one row of the kept component to the next, and all of them. */
  readonly stride: number
  readonly blocks: number
  /** Units between restarts; 0: there are none. */
  readonly interval: number
}

interface FastEnd {
  /** A place in or behind the data, not behind the marker that follows them. */
  readonly at: number
  /** DC values of the kept component by block; gone with the next scan. */
  readonly values: Int32Array
}

interface Program {
  readonly memory: WasmMemory
  readScan(
    from: number, end: number, room: number, plan: number, planEnd: number, columns: number,
    rows: number, columnStep: number, rowStep: number, interval: number,
  ): number
}

const planBytes = 16
const planBlocksMax = 64
const tablesMax = 4
const vectorBytes = 16
/** More than the bits of a block, which may be read behind the data before that is seen. */
const behindBytes = 512
/** A larger file takes the other way: this memory is never given back. */
const fastBytesMax = 24 * 1024 * 1024

const dcAt = planBytes * planBlocksMax
const acAt = dcAt + tablesMax * tableBytes.dc
const valuesAt = acAt + tablesMax * tableBytes.ac

let loaded: Program | null | undefined
/** Codes whose tables lie in the program's memory, by their place. */
const known: Record<CodeKind, HuffmanCode[]> = { dc: [], ac: [] }

const program = (): Program | null => {
  if (loaded === undefined) loaded = wasmProgram<Program>(huffmanWasm)
  return loaded
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

const sameCode = (a: HuffmanCode | undefined, b: HuffmanCode): boolean =>
  a !== undefined && sameBytes(a.counts, b.counts) && sameBytes(a.symbols, b.symbols)

/** Where the tables of each code of a scan lie; those of the file before are mostly the same. */
const tablesOf = (
  memory: WasmMemory, kind: CodeKind, codes: readonly HuffmanCode[],
): Map<HuffmanCode, number> => {
  const first = kind === 'dc' ? dcAt : acAt
  return new Map([...new Set(codes)].map((code, place) => {
    const at = first + place * tableBytes[kind]
    if (!sameCode(known[kind][place], code)) {
      const entries = new Uint16Array(memory.buffer, at, tableBytes[kind] / 2).fill(0)
      writeEntries(code, entries)
      known[kind][place] = code
    }
    return [code, at]
  }))
}

/** Writes the blocks of one unit; gives their number. */
const writePlan = (memory: WasmMemory, { parts, stride }: FastScan): number => {
  const dc = tablesOf(memory, 'dc', parts.map((part) => part.dc))
  const ac = tablesOf(memory, 'ac', parts.map((part) => part.ac))
  const words = new Int32Array(memory.buffer, 0, (planBytes * planBlocksMax) / 4)
  let blocks = 0
  for (const part of parts) {
    for (let i = 0; i < part.h * part.v; i += 1) {
      const value = Math.floor(i / part.h) * stride + (i % part.h)
      words.set(
        [dc.get(part.dc)!, ac.get(part.ac)!, part.kept ? valuesAt + 4 * value : 0], 4 * blocks)
      blocks += 1
    }
  }
  return blocks
}

/** Reads a scan; null: it is not one for this way, or was given up. Never throws. */
export type FastReader = (scan: FastScan) => FastEnd | null

/** The reader in WebAssembly. */
export const readScanFast: FastReader = (scan) => {
  const kept = scan.parts.find((part) => part.kept)
  const from = valuesAt + Math.ceil((4 * scan.blocks) / vectorBytes) * vectorBytes
  const end = from + scan.data.length
  const room = end + vectorBytes
  const size = room + scan.data.length + behindBytes
  if (kept === undefined || size > fastBytesMax) return null
  const found = program()
  if (found === null) return null
  const { memory } = found
  try {
    makeRoom(memory, size)
    const planEnd = writePlan(memory, scan) * planBytes
    new Uint8Array(memory.buffer).set(scan.data, from)
    const at = found.readScan(
      from, end, room, 0, planEnd, scan.columns, scan.rows, 4 * kept.h,
      4 * kept.v * scan.stride, scan.interval)
    if (at < 0) return null
    return { at: at - from, values: new Int32Array(memory.buffer, valuesAt, scan.blocks) }
  } catch {
    // A trap, or memory that is not to be had: the other way tells what becomes of the file.
    return null
  }
}

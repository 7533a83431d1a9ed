/** The chunks of a PNG (PNG specification, sections 5 and 11), as far as pixels need them. */
import { crc32 } from 'node:zlib'
import { ImageProblem } from './problem.js'

/** What the chunks say. */
export interface Png {
  readonly width: number
  readonly height: number
  readonly depth: number
  readonly colour: number
  readonly interlaced: boolean
  /** RGBA per entry. */
  readonly palette: Uint8Array | null
  /** The one transparent sample value or triple, as stored. */
  readonly clear: readonly number[] | null
  readonly data: readonly Uint8Array[]
  /** Chunks that say what its numbers look like, with their types, in the order of the file. */
  readonly colourChunks: readonly Uint8Array[]
  /** Whether more than one frame is shown. */
  readonly animated: boolean
  /** What a camera says of it. */
  readonly exif: Uint8Array | null
}

const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const depthsOf: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
}

/**
 * Chunks whose checksum is compared: those that pixels are made of. A bit that fell in a header or
 * a palette leaves data that inflates well, to another picture.
 */
const checked: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT'])

const requireChecksum = (bytes: Buffer, type: string, at: number, end: number): void => {
  if (!checked.has(type) || crc32(bytes.subarray(at + 4, end)) === bytes.readUInt32BE(end)) return
  throw new ImageProblem(type === 'IDAT' ? 'data_damaged' : 'header_damaged')
}

/**
 * Whether a picture cannot be known without a chunk (a capital first letter) that this format does
 * not have: whoever shows it shows something else (PNG specification, section 5.4).
 */
const isUnknownCritical = (type: string): boolean =>
  /^[^a-z]/.test(type) && !['IHDR', 'PLTE', 'IDAT', 'IEND'].includes(type)

/** Chunks without which the same samples are another picture (section 11.3.2). */
const tellsColour: ReadonlySet<string> = new Set([
  'gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'mDCV', 'mDCv', 'cLLI', 'cLLi',
])

/** Every chunk up to IEND: type, content, and both as they stand. */
function* chunksOf(bytes: Buffer): Generator<readonly [string, Buffer, Buffer]> {
  let at = 8
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at)
    const end = at + 8 + length
    if (end + 4 > bytes.length) throw new ImageProblem('truncated')
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (isUnknownCritical(type)) throw new ImageProblem('header_damaged')
    requireChecksum(bytes, type, at, end)
    yield [type, bytes.subarray(at + 8, end), bytes.subarray(at + 4, end)]
    if (type === 'IEND') return
    at = end + 4
  }
  throw new ImageProblem('truncated')
}

const paletteOf = (rgb: Buffer, alpha: Buffer | null): Uint8Array => {
  if (rgb.length % 3 !== 0 || rgb.length > 768) throw new ImageProblem('header_damaged')
  const entries = rgb.length / 3
  return Uint8Array.from({ length: entries * 4 }, (_, i) => {
    const entry = i >> 2
    if ((i & 3) === 3) return alpha?.[entry] ?? 255
    return rgb[entry * 3 + (i & 3)] ?? 0
  })
}

const clearOf = (colour: number, content: Buffer | null): number[] | null => {
  const wanted = colour === 0 ? 1 : colour === 2 ? 3 : 0
  if (content === null || wanted === 0 || content.length < wanted * 2) return null
  return Array.from({ length: wanted }, (_, i) => content.readUInt16BE(i * 2))
}

/** Reads every chunk up to IEND. Throws `ImageProblem`. */
export const readPng = (bytes: Buffer): Png => {
  const found = new Map<string, Buffer>()
  const data: Buffer[] = []
  const colourChunks: Buffer[] = []
  for (const [type, content, whole] of chunksOf(bytes)) {
    if (tellsColour.has(type)) colourChunks.push(whole)
    if (type === 'IDAT') data.push(content)
    else if (!found.has(type)) found.set(type, content)
    else if (type === 'IHDR') throw new ImageProblem('header_damaged')
  }
  const head = found.get('IHDR')
  if (head?.length !== 13) throw new ImageProblem('header_damaged')
  const [depth = 0, colour = 0, method = 0, filter = 0, interlace = 0] = head.subarray(8)
  // The format has no others: such a header is no part of it that only another program knows.
  const known = depthsOf[colour]?.includes(depth) === true && method === 0 && filter === 0
  if (!known || interlace > 1) throw new ImageProblem('header_damaged')
  const rgb = found.get('PLTE') ?? null
  const transparency = found.get('tRNS') ?? null
  if (colour === 3 && rgb === null) throw new ImageProblem('header_damaged')
  return {
    width: head.readUInt32BE(0), height: head.readUInt32BE(4), depth, colour,
    interlaced: interlace === 1,
    palette: colour === 3 && rgb !== null ? paletteOf(rgb, transparency) : null,
    clear: clearOf(colour, transparency),
    data, colourChunks, animated: found.has('acTL'), exif: found.get('eXIf') ?? null,
  }
}

export const bitsPerPixel = ({ depth, colour }: Png): number => depth * (samplesOf[colour] ?? 0)

/** Bytes of a row of so many pixels, without its filter byte. */
export const rowBytes = (png: Png, width: number): number =>
  Math.ceil((width * bitsPerPixel(png)) / 8)

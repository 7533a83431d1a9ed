/** A small PNG encoder for what libraries do not write: every colour type, depth, filter, pass. */
import { deflateSync } from 'node:zlib'

/** What to write. Samples are given per pixel and channel, in the units of the depth. */
export interface PngPicture {
  readonly width: number
  readonly height: number
  readonly depth: 1 | 2 | 4 | 8 | 16
  readonly colour: 0 | 2 | 3 | 4 | 6
  readonly interlaced?: boolean
  /** Filter of row `y`. */
  readonly filter?: (y: number) => number
  readonly sample: (x: number, y: number, channel: number) => number
  readonly palette?: Uint8Array
  readonly transparency?: Uint8Array
  readonly level?: number
  /** The data is cut into chunks of so many bytes. */
  readonly chunkBytes?: number
}

/** Channels of each colour type. */
export const channelsOf = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 } as const

/** The eight bytes every PNG begins with. */
export const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k += 1) c = (c & 1) === 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

const crcOf = (bytes: Uint8Array): number => {
  let c = 0xffffffff
  for (const byte of bytes) c = crcTable[(c ^ byte) & 255]! ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}

/** One chunk: length, type, content, checksum. */
export const chunk = (type: string, content: Uint8Array): Buffer => {
  const out = Buffer.alloc(12 + content.length)
  out.writeUInt32BE(content.length, 0)
  out.write(type, 4, 'latin1')
  out.set(content, 8)
  out.writeUInt32BE(crcOf(out.subarray(4, 8 + content.length)), 8 + content.length)
  return out
}

/** The header chunk. */
export const header = (
  width: number, height: number, depth: number, colour: number, interlace = 0,
): Buffer => {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([depth, colour, 0, 0, interlace], 8)
  return chunk('IHDR', head)
}

const paeth = (a: number, b: number, c: number): number => {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c
}

const filtered = (kind: number, row: Buffer, above: Buffer, step: number): Buffer => {
  const out = Buffer.alloc(row.length + 1)
  out[0] = kind
  for (let i = 0; i < row.length; i += 1) {
    const [a, b, c] = [row[i - step] ?? 0, above[i]!, i < step ? 0 : above[i - step]!]
    const guess = [0, a, b, (a + b) >> 1, paeth(a, b, c)][kind]!
    out[i + 1] = row[i]! - guess
  }
  return out
}

const passes = [
  [0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2],
] as const

const packed = (p: PngPicture, y: number, x0: number, dx: number): Buffer => {
  const channels = channelsOf[p.colour]
  const count = Math.ceil((p.width - x0) / dx)
  const row = Buffer.alloc(Math.ceil((count * channels * p.depth) / 8))
  for (let i = 0; i < count * channels; i += 1) {
    const value = p.sample(x0 + Math.floor(i / channels) * dx, y, i % channels)
    if (p.depth === 16) row.writeUInt16BE(value, i * 2)
    else if (p.depth === 8) row[i] = value
    else row[(i * p.depth) >> 3]! |= value << (8 - p.depth - ((i * p.depth) & 7))
  }
  return row
}

const rowsOf = (p: PngPicture): Buffer[] => {
  const step = Math.max(1, (p.depth * channelsOf[p.colour]) >> 3)
  const out: Buffer[] = []
  for (const [x0, y0, dx, dy] of p.interlaced === true ? passes : [[0, 0, 1, 1] as const]) {
    if (x0 >= p.width) continue
    let above: Buffer | null = null
    for (let y = y0; y < p.height; y += dy) {
      const row = packed(p, y, x0, dx)
      out.push(filtered(p.filter?.(y) ?? 0, row, above ?? Buffer.alloc(row.length), step))
      above = row
    }
  }
  return out
}

/** Puts chunks of data between a header and an end. */
export const pngAround = (head: readonly Buffer[], data: Buffer, chunkBytes = 65_536): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at < data.length; at += chunkBytes) {
    parts.push(chunk('IDAT', data.subarray(at, at + chunkBytes)))
  }
  return Buffer.concat([pngSignature, ...head, ...parts, chunk('IEND', Buffer.alloc(0))])
}

/** The bytes of a PNG. */
export const writePng = (p: PngPicture): Buffer => {
  const head = [header(p.width, p.height, p.depth, p.colour, p.interlaced === true ? 1 : 0)]
  if (p.palette !== undefined) head.push(chunk('PLTE', p.palette))
  if (p.transparency !== undefined) head.push(chunk('tRNS', p.transparency))
  return pngAround(head, deflateSync(Buffer.concat(rowsOf(p)), { level: p.level ?? 1 }),
    p.chunkBytes)
}

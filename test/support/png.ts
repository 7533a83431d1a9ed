/** Pictures made on the spot. */
import { crc32, deflateSync } from 'node:zlib'

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** Grey value (0..255) of a pixel. */
export type Shade = (x: number, y: number) => number

/** A PNG of one grey channel; pictures of different `seed` look nothing alike. */
export const greyPng = (
  width: number, height: number, shade: number | Shade, level = 6,
): Buffer => {
  const of: Shade = typeof shade === 'function' ? shade
    : (x, y) => ((((x >> 4) + 3 * (y >> 4)) * 37 + shade * 101) * 53) & 0xff
  const rows = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = of(x, y)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level })), chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The picture with this number (0..255): none looks like another. */
export const image = (i: number): Buffer => greyPng(64, 48, i)

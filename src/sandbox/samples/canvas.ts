/** A picture of few colours, drawn by hand and written as a PNG with a palette. */
import { crc32, deflateSync } from 'node:zlib'
import { cell, isSet } from './font.js'

/** Red, green and blue, 0 to 255. */
export type Colour = readonly [number, number, number]

/** A picture; colours are places in its palette. */
export interface Canvas {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
  readonly palette: readonly Colour[]
}

/** A picture of one colour, the palette's first. */
export const newCanvas = (width: number, height: number, palette: readonly Colour[]): Canvas =>
  ({ width, height, palette, pixels: new Uint8Array(width * height) })

/** Fills a rectangle, as far as it lies in the picture. */
export const fill = (
  { width, height, pixels }: Canvas, x: number, y: number, w: number, h: number, colour: number,
): void => {
  const [left, right] = [Math.max(0, x), Math.min(width, x + w)]
  for (let row = Math.max(0, y); row < Math.min(height, y + h); row += 1) {
    pixels.fill(colour, row * width + left, row * width + Math.max(left, right))
  }
}

/** Writes one line; `scale` is the size of the font's pixel. */
export const write = (
  canvas: Canvas, text: string, x: number, y: number, scale: number, colour: number,
): void => {
  [...text].forEach((char, at) => {
    const left = x + at * cell.width * scale
    for (let row = 0; row < cell.height; row += 1) {
      for (let column = 0; column < cell.width; column += 1) {
        if (!isSet(char, column, row)) continue
        fill(canvas, left + column * scale, y + row * scale, scale, scale, colour)
      }
    }
  })
}

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(body.length + 8)
  frame.writeUInt32BE(data.length, 0)
  body.copy(frame, 4)
  frame.writeUInt32BE(crc32(body), body.length + 4)
  return frame
}

const header = ({ width, height }: Canvas): Buffer => {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  // Eight bits a pixel, a palette, no interlace.
  data.set([8, 3, 0, 0, 0], 8)
  return data
}

/** The picture as a PNG; `level` is how hard it is compressed, which changes bytes, not pixels. */
export const pngOf = (canvas: Canvas, level: number): Buffer => {
  const { width, height, pixels, palette } = canvas
  const rows = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y += 1) {
    rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header(canvas)),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

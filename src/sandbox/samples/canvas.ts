/** A picture of few colours, drawn by hand. */
import { encode } from 'jpeg-js'
import { constants } from 'node:zlib'
import { PNG } from 'pngjs'

/**
 * The bitmap font of the sample screens: capitals, digits and marks of 5x7 pixels. Each character
 * is seven rows from the top; a row is one base-32 digit whose five bits are its pixels.
 */
const glyphs: Readonly<Record<string, string>> = {
  A: 'ehhvhhh', B: 'uhhuhhu', C: 'ehggghe', D: 'uhhhhhu', E: 'vgguggv', F: 'vgguggg',
  G: 'ehgnhhf', H: 'hhhvhhh', I: 'e44444e', J: '7222iic', K: 'hikokih', L: 'ggggggv',
  M: 'hrllhhh', N: 'hhpljhh', O: 'ehhhhhe', P: 'uhhuggg', Q: 'ehhhlid', R: 'uhhukih',
  S: 'fgge11u', T: 'v444444', U: 'hhhhhhe', V: 'hhhhha4', W: 'hhhllla', X: 'hha4ahh',
  Y: 'hha4444', Z: 'v1248gv',
  0: 'ehjlphe', 1: '4c4444e', 2: 'eh1248v', 3: 'v2421he', 4: '26aiv22', 5: 'vgu11he',
  6: '68guhhe', 7: 'v124888', 8: 'ehhehhe', 9: 'ehhf12c',
  '.': '00000cc', ',': '0000c48', ':': '0cc0cc0', ';': '0cc0c48', '-': '000v000',
  _: '000000v', '+': '044v440', '=': '00v0v00', '/': '01248g0', '(': '2488842',
  ')': '8422248', '{': '6448446', '}': 'c44244c', '[': 'e88888e', ']': 'e22222e',
  '<': '248g842', '>': '8421248', '\'': '4480000', '"': 'aa00000', '!': '4444404',
  '?': 'eh12404', '*': '04lel40', '#': 'aavavaa', '|': '4444444',
}

/** Pixels of a character's cell, gap included. */
export const cell = { width: 6, height: 7 } as const

/** Whether a pixel of a character is set; what the font lacks is blank. */
export const isSet = (char: string, x: number, y: number): boolean => {
  const row = glyphs[char.toUpperCase()]?.[y]
  return row !== undefined && x < 5 && ((Number.parseInt(row, 32) >> (4 - x)) & 1) === 1
}

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

/** Red, green, blue and opaque, a byte each: what the encoders take. */
const rgbaOf = ({ pixels, palette }: Canvas): Buffer => {
  const colours = palette.map((colour) => Buffer.from([...colour, 0xff]).readUInt32LE())
  const bytes = Buffer.alloc(pixels.length * 4)
  for (let at = 0; at < pixels.length; at += 1) {
    bytes.writeUInt32LE(colours[pixels[at] as number] as number, at * 4)
  }
  return bytes
}

/** The picture as a PNG; `level` is how hard it is compressed, which changes bytes, not pixels. */
export const pngOf = (canvas: Canvas, level: number): Buffer => {
  const { width, height } = canvas
  const png = new PNG({ width, height })
  png.data = rgbaOf(canvas)
  // Rows that are alike compress best as they are.
  return PNG.sync.write(png, {
    colorType: 2, filterType: 0, deflateLevel: level, deflateStrategy: constants.Z_DEFAULT_STRATEGY,
  })
}

/** The picture as a baseline JPEG; `quality` 1 to 100. */
export const jpegOf = (canvas: Canvas, quality: number): Buffer => {
  const { width, height } = canvas
  return Buffer.from(encode({ width, height, data: rgbaOf(canvas) }, quality).data)
}

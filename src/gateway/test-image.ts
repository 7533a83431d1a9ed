import { PNG } from 'pngjs'

const sidePixels = 32
const red = Buffer.from([255, 0, 0, 255])
const blue = Buffer.from([0, 0, 255, 255])

/** A synthetic PNG for proofs: 32x32 pixels, left half red, right half blue. */
export const twoColourPng = (): Buffer => {
  const png = new PNG({ width: sidePixels, height: sidePixels })
  for (let at = 0; at < sidePixels * sidePixels; at += 1) {
    png.data.set(at % sidePixels < sidePixels / 2 ? red : blue, at * 4)
  }
  // Without transparency, which not every model takes.
  return PNG.sync.write(png, { colorType: 2 })
}

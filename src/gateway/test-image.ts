import { crc32, deflateSync } from 'node:zlib'

const sidePixels = 32
const signature = Buffer.from('89504e470d0a1a0a', 'hex')

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(body.length + 8)
  frame.writeUInt32BE(data.length, 0)
  body.copy(frame, 4)
  frame.writeUInt32BE(crc32(body), body.length + 4)
  return frame
}

const header = (): Buffer => {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(sidePixels, 0)
  data.writeUInt32BE(sidePixels, 4)
  // Eight bits per channel, RGB, no interlace.
  data.set([8, 2, 0, 0, 0], 8)
  return data
}

const row = (): Buffer => {
  const half = sidePixels / 2
  const pixels = Array.from(
    { length: sidePixels }, (_, x) => (x < half ? [255, 0, 0] : [0, 0, 255]),
  )
  return Buffer.from([0, ...pixels.flat()])
}

/** A synthetic PNG for proofs: 32x32 pixels, left half red, right half blue. */
export const twoColourPng = (): Buffer => Buffer.concat([
  signature,
  chunk('IHDR', header()),
  chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: sidePixels }, row)))),
  chunk('IEND', Buffer.alloc(0)),
])

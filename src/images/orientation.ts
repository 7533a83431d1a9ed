/** How a picture is to be turned before it is shown, out of its Exif data (Exif 2.32, 4.6.4). */

const orientationTag = 0x0112
const entryBytes = 12
/** As it stands: what no Exif data says, too. */
const upright = 1

/** The number of the first directory; null where it cannot be read. */
const numberOf = (tiff: Buffer): number | null => {
  const mark = tiff.toString('latin1', 0, 2)
  if (tiff.length < 8 || (mark !== 'II' && mark !== 'MM')) return null
  const u16 = (at: number): number => mark === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at)
  const first = mark === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (first + 2 > tiff.length) return null
  const entries = u16(first)
  for (let i = 0, at = first + 2; i < entries; i += 1, at += entryBytes) {
    if (at + entryBytes > tiff.length) return null
    if (u16(at) === orientationTag) return u16(at + 8)
  }
  return upright
}

/**
 * What Exif data says of turning, as text to compare: the number of the orientation, and where it
 * cannot be read all of the data, so that nothing unread passes for the same.
 */
export const orientationOf = (exif: Uint8Array | null): string => {
  if (exif === null) return String(upright)
  const tiff = Buffer.from(exif.buffer, exif.byteOffset, exif.byteLength)
  const number = numberOf(tiff)
  return number === null ? `unread ${tiff.toString('base64')}` : String(number)
}

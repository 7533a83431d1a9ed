/** What a capture is by its first bytes: what a name or a header says of it counts for nothing. */

/** Most bytes of a capture: 20 MiB, as the service takes them. */
export const captureBytesMax = 20_971_520

/** The kinds that a device takes. */
type CaptureMime = 'image/png' | 'image/jpeg'

const signatures: readonly (readonly [CaptureMime, Buffer])[] = [
  ['image/png', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['image/jpeg', Buffer.from('ffd8ff', 'hex')],
]

/** The kind of a picture; null for anything that is neither PNG nor JPEG. */
export const mimeOf = (bytes: Uint8Array): CaptureMime | null =>
  signatures.find(([, mark]) => mark.equals(bytes.subarray(0, mark.length)))?.[0] ?? null

/** A JPEG as it is compared with another: its quantized coefficients and what they mean. */
import { imageLimits } from './image-limits.js'
import { blockValues, readCoefficients } from './jpeg-blocks.js'
import { lumaTells, walkJpeg } from './jpeg-head.js'
import type { Component, Frame } from './jpeg-scan.js'
import { orientationOf } from './orientation.js'
import { ImageProblem } from './problem.js'

/** One component of a decoded JPEG. */
export interface JpegPart {
  /** Blocks that hold picture, and blocks from one row to the next. */
  readonly columns: number
  readonly rows: number
  readonly stride: number
  /** How many blocks of the finest component one of these is wide and high. */
  readonly across: number
  readonly down: number
  /** Steps of the 64 coefficients, in the order of the file. */
  readonly steps: Uint16Array
  /** 64 a block, in the same order. */
  readonly values: Int16Array
}

/** A decoded JPEG: grey, or luma and two of chroma. */
export interface JpegPicture {
  readonly format: 'jpeg'
  readonly width: number
  readonly height: number
  readonly parts: readonly JpegPart[]
  /** What the numbers mean: profile, transform, orientation; equal where it is the same. */
  readonly meaning: readonly Uint8Array[]
  /** Bytes of memory that it holds. */
  readonly bytes: number
}

const bytesPerValue = 2
const profileMark = Buffer.from('ICC_PROFILE\0', 'latin1')
const exifMark = Buffer.from('Exif\0\0', 'latin1')

const valuesOf = (frame: Frame): { all: Map<Component, Int16Array>, bytes: number } => {
  const { components } = frame
  const blocks = components.reduce((sum, { dc }) => sum + dc.length, 0)
  const bytes = blocks * blockValues * bytesPerValue
  if (bytes > imageLimits.decodedBytesMax) throw new ImageProblem('too_many_bytes')
  const all = new Map(components.map((component) =>
    [component, new Int16Array(component.dc.length * blockValues)]))
  return { all, bytes }
}

/** Profile chunks and the transform as they stand; the orientation as a number. */
class Meaning {
  readonly #profile: Buffer[] = []
  #orientation: string | null = null

  take(marker: number, segment: Buffer): void {
    const begins = (mark: Buffer): boolean => segment.subarray(0, mark.length).equals(mark)
    if (marker === 0xe2 && begins(profileMark)) this.#profile.push(segment)
    if (marker === 0xe1 && begins(exifMark)) {
      this.#orientation ??= orientationOf(segment.subarray(exifMark.length))
    }
  }

  all(transform: number | null): Uint8Array[] {
    const told = `${transform} ${this.#orientation ?? orientationOf(null)}`
    return [Buffer.from(told), ...this.#profile]
  }
}

const partsOf = (
  { components }: Frame, all: ReadonlyMap<Component, Int16Array>,
  steps: ReadonlyMap<Component, Uint16Array>,
): JpegPart[] => {
  const [hMax, vMax] = [
    Math.max(...components.map(({ h }) => h)), Math.max(...components.map(({ v }) => v)),
  ]
  return components.map((component) => {
    const { columns, rows, stride, h, v } = component
    const [across, down] = [hMax / h, vMax / v]
    const known = steps.get(component)
    if (!Number.isInteger(across) || !Number.isInteger(down)) throw new ImageProblem('unsupported')
    if (known === undefined) throw new ImageProblem('data_damaged')
    return { columns, rows, stride, across, down, steps: known, values: all.get(component)! }
  })
}

/**
 * Reads the coefficients of a JPEG whose facts were accepted. Throws `ImageProblem`:
 * `too_many_bytes` before more than `decodedBytesMax` are allocated, `unsupported` for what is not
 * compared: RGB and CMYK, tables that change between scans, a component that is read twice.
 */
export const readJpegPicture = (bytes: Uint8Array): JpegPicture => {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const meaning = new Meaning()
  const steps = new Map<Component, Uint16Array>()
  const read = new Set<Component>()
  let values: ReturnType<typeof valuesOf> | null = null
  const head = walkJpeg(whole, {
    segment(marker, segment) {
      // Decoders do not agree on what a table means that comes later.
      if (marker === 0xdb && values !== null) throw new ImageProblem('unsupported')
      meaning.take(marker, segment)
    },
    scan({ quantizers }, frame, scan, at) {
      values ??= valuesOf(frame)
      for (const { component } of scan.parts) {
        if (!frame.progressive && read.has(component)) throw new ImageProblem('unsupported')
        read.add(component)
        const table = quantizers.get(component.quantizer)
        if (table !== undefined) steps.set(component, table)
      }
      return readCoefficients(whole, at, frame, scan, values.all)
    },
  })
  const { frame } = head
  // Assigned in the walk, which the compiler does not follow.
  const found = values as ReturnType<typeof valuesOf> | null
  if (frame === null || found === null) throw new ImageProblem('data_damaged')
  if (!lumaTells(head)) throw new ImageProblem('unsupported')
  const { width, height } = frame
  return {
    format: 'jpeg', width, height, parts: partsOf(frame, found.all, steps),
    meaning: meaning.all(head.adobeTransform), bytes: found.bytes,
  }
}

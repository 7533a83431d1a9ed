/** PNGs of every kind with made-up samples, for properties. */
import fc from 'fast-check'
import { channelsOf, type PngPicture } from './png-writer.js'

/** Every colour type with every depth. */
export const pngKinds = [
  [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [2, 8], [2, 16],
  [3, 1], [3, 2], [3, 4], [3, 8], [4, 8], [4, 16], [6, 8], [6, 16],
] as const

/** A repeatable noise without a generator's state. */
export const noise = (seed: number, ...at: readonly number[]): number =>
  at.reduce((sum, value) =>
    Math.imul(sum ^ (value + 0x9e37), 0x85ebca6b) ^ (sum >>> 13), seed) >>> 0

/** A PNG of a kind; `filter` 5 is a mixture, `clear` 1 lets something show through. */
export const pngOf = (
  [colour, depth]: readonly [PngPicture['colour'], PngPicture['depth']],
  width: number, height: number, seed: number, interlaced: boolean, filter: number, clear: number,
): PngPicture => {
  const most = 2 ** depth - 1
  const entries = Math.min(256, most + 1)
  const few = (seed & 3) === 0
  const sample = (x: number, y: number, channel: number): number => {
    if (channel === channelsOf[colour] - 1 && colour >= 4 && few) return most
    const value = noise(seed, x >> 2, y >> 1, channel)
    return clear === 1 && (x + y) % 3 === 0 ? most >> 1 : value % (most + 1)
  }
  const palette = Uint8Array.from({ length: entries * 3 }, (_, i) => noise(seed, i) & 255)
  const triple = (values: readonly number[]): Uint8Array =>
    Uint8Array.from(values.flatMap((value) => [value >> 8, value & 255]))
  const transparency = clear === 0 || colour >= 4 ? {} : {
    transparency: colour === 3
      ? Uint8Array.from({ length: Math.max(1, entries >> 1) }, (_, i) => noise(seed, i, 7) & 255)
      : triple(Array<number>(colour === 0 ? 1 : 3).fill(most >> 1)),
  }
  return {
    width, height, depth, colour, interlaced, sample, ...transparency,
    filter: (y) => (filter === 5 ? noise(seed, y) % 5 : filter),
    ...(colour === 3 ? { palette } : {}), chunkBytes: 64 + (seed & 1023),
  }
}

const size = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(15, 16, 17, 32, 33))

/** Any PNG. */
export const anyPng = (): fc.Arbitrary<PngPicture> => fc.tuple(
  fc.constantFrom(...pngKinds), size, size, fc.nat(), fc.boolean(), fc.nat(5), fc.nat(1),
).map((parts) => pngOf(...parts))

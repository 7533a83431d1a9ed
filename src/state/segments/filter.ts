/**
 * A Bloom filter over the keys of one segment: "not here" is certain, "here" is to be looked at.
 * Its bytes are believed only after their digest was compared: a flipped bit must not hide a row.
 */
import type { Key } from './row.js'

/** Bits for each row, and how many of them a key sets: about one wrong "here" in a hundred. */
const bitsPerRow = 10
const bitsPerKey = 7
const bitsMin = 64

const offsetBasis = 0x811c9dc5
const prime = 0x01000193
const secondSeed = 0x9747b28c

/** FNV-1a over UTF-16 code units, one unit a step. */
export const foldText = (seed: number, text: string): number => {
  let sum = seed
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), prime)
  return sum
}

/** Spreads every bit over all others (the finalizer of MurmurHash3). */
export const spread = (value: number): number => {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** The two numbers a key's bits follow from: the i-th is (first + i * second) mod bits. */
export const hashesOf = ({ collection, id }: Key): readonly [number, number] => {
  const text = `${collection}/${id}`
  return [spread(foldText(offsetBasis, text)), spread(foldText(secondSeed, text)) | 1]
}

const bitsOf = ([first, second]: readonly [number, number], bits: number): number[] =>
  Array.from({ length: bitsPerKey }, (_, i) => ((first + Math.imul(i, second)) >>> 0) % bits)

/** The filter of some keys, as bytes: bit b of the filter is bit b % 8 of byte b / 8. */
export const buildFilter = (keys: readonly Key[]): Buffer => {
  const bytes = Buffer.alloc(Math.ceil(Math.max(bitsMin, keys.length * bitsPerRow) / 8))
  for (const key of keys) {
    for (const bit of bitsOf(hashesOf(key), bytes.length * 8)) {
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7))
    }
  }
  return bytes
}

/** Whether the keys of a filter may hold one with these numbers, see `hashesOf`. */
export const mayHold = (filter: Buffer, hashes: readonly [number, number]): boolean =>
  bitsOf(hashes, filter.length * 8).every((bit) => ((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) > 0)

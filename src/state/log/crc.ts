/**
 * CRC-32 as zlib has it, over short texts of one byte a character: loading zlib would take every
 * command longer than all the sums that it will ever make of the headers of records.
 */

const polynomial = 0xedb88320
const bitsAByte = 8

const remainderOf = (byte: number): number => {
  let value = byte
  for (let bit = 0; bit < bitsAByte; bit += 1) {
    value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1
  }
  return value
}

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => remainderOf(byte))

/** CRC-32 of a text whose characters are bytes, as a number from 0 to 2³² - 1. */
export const crc32 = (text: string): number => {
  let sum = 0xffffffff
  for (let at = 0; at < text.length; at += 1) {
    sum = (remainders[(sum ^ text.charCodeAt(at)) & 0xff] ?? 0) ^ (sum >>> bitsAByte)
  }
  return (sum ^ 0xffffffff) >>> 0
}

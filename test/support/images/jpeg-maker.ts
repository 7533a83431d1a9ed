/** JPEGs of made-up Huffman codes and random data: sound in their headers, and in little else. */

/** What to make. */
export interface MadeJpeg {
  readonly seed: number
  readonly width: number
  readonly height: number
  /** Sampling factors of each component, as the header writes them. */
  readonly sampling: readonly number[]
  /** Units between restarts; 0: none. */
  readonly interval: number
  readonly dataBytes: number
  /** Codes with symbols that no sound file has, and data with markers and stuffing gone wrong. */
  readonly strange: boolean
  /** So many scans of the first component alone follow the one of all. */
  readonly separate: number
  /** The scan of all names the first component once more. */
  readonly twice: boolean
}

/** A repeatable stream of numbers below a limit. */
const numbers = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const segment = (marker: number, ...parts: readonly (readonly number[])[]): Buffer => {
  const body = parts.flat()
  const length = body.length + 2
  return Buffer.from([0xff, marker, length >> 8, length & 255, ...body])
}

/** How many codes of each length: now and then a code is left out, mostly every window has one. */
const countsOf = (next: (below: number) => number): number[] => {
  const counts = Array<number>(16).fill(0)
  const last = 6 + next(11)
  let open = 1
  for (let length = 1; length <= last && open > 0; length += 1) {
    open *= 2
    const ends = length === last || open > 100
    counts[length - 1] = ends ? open - (next(6) === 0 ? 1 : 0) : Math.max(0, open - 1 - next(4))
    open = ends ? 0 : open - counts[length - 1]!
  }
  return counts
}

const tableOf = (
  next: (below: number) => number, isAc: boolean, id: number, strange: boolean,
): Buffer => {
  const counts = countsOf(next)
  const total = counts.reduce((sum, count) => sum + count, 0)
  const symbol = (): number => {
    if (strange && next(40) === 0) return next(256)
    if (!isAc) return next(12)
    if (next(3) === 0) return 0
    return next(4) === 0 ? 0xf0 : (next(4) << 4) | (1 + next(8))
  }
  return segment(0xc4, [(isAc ? 0x10 : 0) | id], counts, Array.from({ length: total }, symbol))
}

const dataOf = (
  next: (below: number) => number, { dataBytes, strange, interval }: MadeJpeg,
): Buffer => {
  const bytes: number[] = []
  for (let i = 0; i < dataBytes; i += 1) {
    const byte = next(9) === 0 ? 255 : next(256)
    bytes.push(byte)
    if (byte === 255 && !(strange && next(30) === 0)) bytes.push(0)
    if (interval > 0 && next(30) === 0) bytes.push(255, 0xd0 + next(8))
  }
  return Buffer.from(bytes)
}

const headerOf = (...ids: readonly number[]): Buffer =>
  segment(0xda, [ids.length], ids.flatMap((id) => [id, id === 1 ? 0 : 0x11]), [0, 63, 0])

/** Makes it. */
export const madeJpeg = (asked: MadeJpeg): Buffer => {
  const { width, height, sampling, interval, strange, separate, twice, seed } = asked
  const ids = [...sampling.keys(), ...(twice ? [0] : [])].map((i) => i + 1)
  const next = numbers(seed)
  const tables = [0, 1].flatMap((id) =>
    [tableOf(next, false, id, strange), tableOf(next, true, id, strange)])
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0], Array<number>(64).fill(1 + next(20))),
    segment(0xc0, [8, height >> 8, height & 255, width >> 8, width & 255, sampling.length],
      sampling.flatMap((factors, i) => [i + 1, factors, 0])),
    ...tables,
    segment(0xdd, [interval >> 8, interval & 255]),
    headerOf(...ids), dataOf(next, asked),
    ...Array.from({ length: separate }, () => [headerOf(1), dataOf(next, asked)]).flat(),
    Buffer.from([0xff, 0xd9]),
  ])
}

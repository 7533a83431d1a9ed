/** What comes through a pipe, by exact lengths, and never much of it at once. */
import type { Readable } from 'node:stream'
import { frameLengthBytes } from '../frame.js'

const aheadBytesMax = 4 * 1024 * 1024

/** Bytes in the order in which they came. */
export class Input {
  readonly #stream: Readable
  readonly #chunks: Buffer[] = []
  #have = 0
  #ended = false
  #wake: (() => void) | null = null

  constructor(stream: Readable) {
    this.#stream = stream
    stream.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#have += chunk.length
      if (this.#have > aheadBytesMax) stream.pause()
      this.#wake?.()
    })
    for (const event of ['end', 'error', 'close']) stream.on(event, () => this.end())
  }

  /** Nothing more is waited for. */
  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  /** The next bytes, exactly so many; null where the input ended before. */
  async take(bytes: number): Promise<Buffer | null> {
    while (this.#have < bytes && !this.#ended) {
      this.#stream.resume()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
    if (this.#have < bytes) return null
    const taken = Buffer.allocUnsafe(bytes)
    for (let at = 0; at < bytes;) {
      const first = this.#chunks[0] ?? Buffer.alloc(0)
      const part = first.subarray(0, bytes - at)
      part.copy(taken, at)
      at += part.length
      if (part.length === first.length) this.#chunks.shift()
      else this.#chunks[0] = first.subarray(part.length)
    }
    this.#have -= bytes
    return taken
  }

  /** A length of eight bytes, then as many; `too_long` above a limit, before any of it is kept. */
  async frame(bytesMax: number): Promise<Buffer | 'too_long' | null> {
    const head = await this.take(frameLengthBytes)
    if (head === null) return null
    const length = head.readBigUInt64BE()
    return length > BigInt(bytesMax) ? 'too_long' : this.take(Number(length))
  }
}

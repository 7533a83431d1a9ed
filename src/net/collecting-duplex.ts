import { Duplex } from 'node:stream'
import { setInterval } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { StatusLines } from './reply-head.js'

/** Most bytes of a request's head: twice what servers commonly accept. */
const headBytesMax = 32_768
/** Bytes handed to the socket at a time. */
const pieceBytesMax = 65_536
const headEnd = '\r\n\r\n'

/** Why a request was not collected: its head is larger than `limitBytes`. */
export class HeadTooLarge extends Error {
  readonly limitBytes = headBytesMax
}

/** How often a piece that waits for the kernel asks whether it still may leave, milliseconds. */
const lookMs = 50

/** What each piece of a request passes. */
export interface Gate {
  /** Waits until the next piece may leave. Throws where it may not; then nothing was entered. */
  enter(): Promise<void>
  /** Throws once the rest may not leave any more. */
  look(): Promise<void>
  /** Told with what `look` threw, where that ended the piece: a look may end too late for it. */
  refuse(error: unknown): void
  /** Ends what `enter` began; `last` when the kernel took the whole request. */
  leave(last: boolean): void
}

interface Collecting {
  readonly bodyBytes: number
  /** Everything written so far. */
  bytes: Buffer
  resolve(whole: Buffer): void
  reject(error: Error): void
}

/**
 * What Node's HTTP takes for the socket. What it writes is collected and goes nowhere until the
 * request is whole and `release` is called with it; replies come through from then on, as fast as
 * they are read. So nothing of a request can leave before the last check has seen all of it.
 */
export class CollectingDuplex extends Duplex {
  readonly #socket: TLSSocket
  #collecting: Collecting | null = null
  #released = false
  #ended = false
  #statusLines = new StatusLines()

  constructor(socket: TLSSocket) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    // Whoever uses the duplex listens as well; idle, nobody does, and an error would end the
    // process.
    this.on('error', () => undefined)
    socket.pause()
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('end', () => {
      this.#ended = true
      this.push(null)
    })
    socket.on('error', (error: Error) => void this.destroy(error))
    // An orderly end may still have bytes to be read here.
    socket.on('close', () => {
      if (!this.#ended) this.destroy()
    })
  }

  /**
   * Collects the next request: its head and `bodyBytes` of body. Rejects with `HeadTooLarge`, or
   * when the connection ends before.
   */
  collect(bodyBytes: number): Promise<Buffer> {
    this.hold()
    return new Promise((resolve, reject) => {
      this.#collecting = { bodyBytes, bytes: Buffer.alloc(0), resolve, reject }
      if (this.destroyed) this.#refuse(new Error('the connection is gone'))
    })
  }

  /**
   * Sends a collected request, piece by piece, each through the gate, and lets the reply through.
   * The gate was entered for the first piece. Returns when the kernel took the last piece or the
   * connection takes no more; how it ended is told by the reply. Throws what the gate throws; the
   * connection is destroyed then.
   */
  async release(whole: Buffer, gate: Gate): Promise<void> {
    this.#released = true
    this.#statusLines = new StatusLines()
    this.#socket.resume()
    for (let at = 0; at < whole.length; at += pieceBytesMax) {
      if (at > 0) await gate.enter()
      let isTaken = false
      try {
        isTaken = await this.#releasePiece(whole.subarray(at, at + pieceBytesMax), gate)
      } finally {
        gate.leave(isTaken && at + pieceBytesMax >= whole.length)
      }
      if (!isTaken) return
    }
  }

  /** Reads no further until the next release: what comes unasked stays in the socket. */
  hold(): void {
    this.#released = false
    this.#socket.pause()
  }

  /** Node asks every socket for it. The attempt has one deadline, which covers this as well. */
  setTimeout(): this {
    return this
  }

  /** Node asks it of a socket that it uses again: the connection keeps the process alive. */
  ref(): this {
    this.#socket.ref()
    return this
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const request = this.#collecting
    // Node ends a request by writing nothing.
    if (chunk.length === 0) return done()
    if (request === null) return done(new Error('more was written than one request'))
    request.bytes = Buffer.concat([request.bytes, chunk])
    const end = request.bytes.indexOf(headEnd)
    const head = end < 0 ? request.bytes.length : end + headEnd.length
    if (head > headBytesMax) return done(new HeadTooLarge('the head is too large'))
    const whole = head + request.bodyBytes
    if (end >= 0 && request.bytes.length > whole) {
      return done(new Error('more was written than the request'))
    }
    if (end >= 0 && request.bytes.length === whole) {
      this.#collecting = null
      request.resolve(request.bytes)
    }
    done()
  }

  override _read(): void {
    if (this.#released) this.#socket.resume()
  }

  override _final(done: () => void): void {
    this.#socket.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#refuse(error ?? new Error('the connection is gone'))
    this.#socket.destroy()
    done(error)
  }

  /** Lets a piece of a reply through, unless its first line is none. */
  #take(chunk: Buffer): void {
    try {
      this.#statusLines.see(chunk)
    } catch (error) {
      return void this.destroy(error as Error)
    }
    if (!this.push(chunk)) this.#socket.pause()
  }

  #refuse(error: Error): void {
    this.#collecting?.reject(error)
    this.#collecting = null
  }

  /** The one place where bytes of a request leave; tells whether the kernel took them all. */
  #releasePiece(piece: Buffer, gate: Gate): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const over = new AbortController()
      const looking = async (): Promise<void> => {
        // A loop that throws ends the interval with it: nothing goes on ticking behind a stop.
        for await (const one of setInterval(lookMs, gate, { signal: over.signal })) await one.look()
      }
      looking().catch((error: Error) => {
        // What the kernel took meanwhile has left: the next piece asks for itself.
        if (over.signal.aborted) return
        gate.refuse(error)
        // From here on the kernel is given nothing more; the gate is left after that.
        this.#socket.destroy()
        reject(error)
      })
      this.#socket.write(piece, (error) => {
        over.abort()
        resolve(error === null || error === undefined)
      })
    })
  }
}

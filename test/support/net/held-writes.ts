/**
 * Holds back what the program writes to a TLS connection that it dialled, as a busy machine or a
 * debugger would between the last check and the write. Preloaded into a process with `--import`, it
 * holds until the file HELD_WRITES_GO_FILE is there.
 */
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import tls from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 5

/** A write that went on; connections count from 1, in the order in which they were dialled. */
export interface Left {
  readonly atMs: number
  readonly bytes: number
  readonly connection: number
}

/** Writes that are held. */
export interface HeldWrites {
  /** How many were begun so far. */
  begun(): number
  /** Bytes that went on to the kernel, by the time (`performance.now()`) at which they did. */
  readonly left: Left[]
  /** Lets everything through from now on. */
  go(): void
}

type Connect = (options: tls.ConnectionOptions) => tls.TLSSocket
type Written = (error?: Error | null) => void

/**
 * Holds writes of connections that are dialled from now on, until `go`; ends with the test. Those
 * to a port of `except` go on, as requests of the test itself have to.
 */
export const holdWrites = (
  t: { teardown(done: () => void): void }, opened: () => boolean = () => false,
  except: () => number | null = () => null,
): HeldWrites => {
  const real = tls.connect as Connect
  const left: Left[] = []
  let connections = 0
  let begun = 0
  let isOpen = false
  const held = (socket: tls.TLSSocket): void => {
    const connection = (connections += 1)
    const write = socket.write.bind(socket) as (chunk: Buffer, done: Written) => boolean
    const later = async (chunk: Buffer, done: Written): Promise<void> => {
      while (!isOpen && !opened() && !socket.destroyed) await sleep(pollMs)
      if (socket.destroyed) return done(new Error('destroyed'))
      left.push({ atMs: performance.now(), bytes: chunk.length, connection })
      write(chunk, done)
    }
    socket.write = ((chunk: Buffer, done: Written): boolean => {
      begun += 1
      void later(chunk, done)
      return true
    }) as typeof socket.write
  }
  tls.connect = ((options: tls.ConnectionOptions) => {
    const socket = real(options)
    if (options.port !== except()) held(socket)
    return socket
  }) as typeof tls.connect
  syncBuiltinESMExports()
  t.teardown(() => {
    isOpen = true
    tls.connect = real as typeof tls.connect
    syncBuiltinESMExports()
  })
  return { begun: () => begun, left, go: () => { isOpen = true } }
}

const goFile = process.env['HELD_WRITES_GO_FILE']
if (goFile !== undefined) holdWrites({ teardown: () => undefined }, () => existsSync(goFile))

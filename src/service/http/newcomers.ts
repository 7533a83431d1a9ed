/**
 * Connections of other machines that have shown no credential yet. All of them come from the one
 * that forwards them, so that nobody can be told from anybody else: where there are too many, the
 * oldest one ends. Whoever opens them by the hundred keeps out no device, which shows its
 * credential with its first bytes, and takes none of the connections that programs of this machine
 * have.
 */
import type { Socket } from 'node:net'
import { newcomersMax } from './http-limits.js'
import type { AnyServer } from './listen.js'

/** The raw connection beneath TLS has the same addresses, and is another object. */
const keyOf = ({ remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress ?? ''} ${remotePort ?? ''}`

/** Those of one listener. */
export class Newcomers {
  readonly #max: number
  /** The oldest first. */
  readonly #all = new Map<string, Socket>()

  constructor(max = newcomersMax) {
    this.#max = max
  }

  /** Watches the connections of a server from now on. */
  watch(server: AnyServer): AnyServer {
    return server.on('connection', (socket: Socket) => this.#add(socket))
  }

  /** Somebody has shown a credential that counts. */
  knows(socket: Socket): void {
    this.#all.delete(keyOf(socket))
  }

  #add(socket: Socket): void {
    const key = keyOf(socket)
    this.#all.set(key, socket)
    socket.once('close', () => {
      if (this.#all.get(key) === socket) this.#all.delete(key)
    })
    const [oldest] = this.#all.values()
    if (this.#all.size > this.#max) oldest?.destroy()
  }
}

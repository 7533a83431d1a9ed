/** Requests that have no whole reply yet, by their connections. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** A request and the reply that it gets. */
export interface UnderWay {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Requests of each connection that have no whole reply yet, oldest first. */
export class Connections {
  readonly #underWay = new WeakMap<Duplex, Set<UnderWay>>()

  /** Answers how many have no whole reply yet. */
  began(request: IncomingMessage, response: ServerResponse): number {
    const { socket } = request
    const all = this.#underWay.get(socket) ?? new Set<UnderWay>()
    const one = { request, response }
    this.#underWay.set(socket, all.add(one))
    response.once('close', () => all.delete(one))
    return all.size
  }

  /** Those of one connection. */
  of(socket: Duplex): readonly UnderWay[] {
    return [...this.#underWay.get(socket) ?? []]
  }
}

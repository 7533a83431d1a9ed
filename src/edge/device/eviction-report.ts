/**
 * Telling the service how many captures left this spool unsent, so that its owner sees there what
 * is missing. It is told once for each number; that it cannot be told keeps no capture from going.
 */
import type { HttpsReply } from '../../net/types.js'
import { endsPairing, errorCodeOf, knowsNot } from './reaction.js'

type Told =
  | { readonly kind: 'nothing' | 'told' }
  /** The credential counts no more. */
  | { readonly kind: 'ended'; readonly status: number }
  /** Again later. */
  | { readonly kind: 'retry'; readonly reason: string }

/** What an answer means; a service that does not know the question is not asked it again. */
const toldBy = (reply: HttpsReply): Told => {
  const { status } = reply
  if (endsPairing(reply)) return { kind: 'ended', status }
  return status < 300 || knowsNot(reply) ? { kind: 'told' }
    : { kind: 'retry', reason: errorCodeOf(reply) }
}

/** The number that is to be told, and the last one that was. */
export class EvictionReport {
  #now = 0
  #told = 0

  /** The spool has come to this number. */
  noted(evictions: number): void {
    this.#now = evictions
  }

  /** Tells it by `send` where it is news. */
  async tell(
    send: (evictions: number) => Promise<{ got: HttpsReply } | { got: null; failed: string }>,
  ): Promise<Told> {
    const evictions = this.#now
    if (evictions === this.#told) return { kind: 'nothing' }
    const answer = await send(evictions)
    if (answer.got === null) return { kind: 'retry', reason: answer.failed }
    const told = toldBy(answer.got)
    if (told.kind === 'told') this.#told = evictions
    return told
  }
}

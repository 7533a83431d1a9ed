/**
 * The fence of an operation on a shared state: the file of this machine, and a row at the place
 * that says whether a piece may be leaving just now. The row is committed before stops are looked
 * at, and whoever stops has his stop committed before he looks at rows: so either the sender sees
 * the stop or the stopper sees the fence. It is taken under what the operation holds: a machine
 * that was silent for so long that others have it now (one that slept) sends nothing more. So an
 * answer counts from before it was asked for, by whichever clock went on: the monotonic one may
 * stand still while a machine sleeps.
 */
import { randomUUID } from 'node:crypto'
import { systemClock, type Clock } from '../../base/clock.js'
import type { FenceFacts } from '../holds/fence.js'
import type { SendFence } from '../holds/holds.js'
import { noteClosing, noteSaying } from './closings.js'
import { placeTimes, type FenceTaking, type Place } from './place.js'
import type { RecordSeal } from './record-seal.js'

/** For so long the row may say that a piece is leaving, so that not each piece costs a trip, ms. */
const keptMs = 50
/** Of the time of a lease an answer may take so much; a request that begins then ends in it. */
const answersALease = 10

interface FenceParts {
  readonly local: SendFence
  readonly facts: Omit<FenceFacts, 'sent'>
  readonly seal: RecordSeal
  readonly place: () => Place
  /** Tokens of the leases without which nothing may leave. */
  readonly under: () => readonly string[]
  /** Both clocks of this machine. */
  readonly clock?: Pick<Clock, 'wallMs' | 'monotonicMs'>
  /** Takes the fence there, renews what it is taken under, and follows what was placed before. */
  taking(taking: FenceTaking): Promise<void>
}

interface Moment {
  readonly wallMs: number
  readonly monotonicMs: number
}

/** See above. */
export class PlacedFence implements SendFence {
  readonly #at: FenceParts
  #sent: FenceFacts['sent'] = 'nothing'
  #isHere = false
  /** Whether the row says that a piece may be leaving. */
  #isThere = false
  #wasThere = false
  /** When its answer had come. */
  #looked: Moment | undefined
  /** Names the last time that it was taken there. */
  #turn = randomUUID()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: FenceParts) {
    this.#at = parts
  }

  async take(signal: AbortSignal): Promise<void> {
    await this.#at.local.take(signal)
    try {
      if (!this.#isThere) await this.#takeThere(signal)
      signal.throwIfAborted()
    } catch (error) {
      this.#at.local.give()
      throw error
    }
    this.#isHere = true
  }

  #now(): Moment {
    const { clock = systemClock } = this.#at
    return { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() }
  }

  #msSince({ wallMs, monotonicMs }: Moment): number {
    const now = this.#now()
    return Math.max(now.wallMs - wallMs, now.monotonicMs - monotonicMs)
  }

  /** An answer that came late says nothing of the leases any more: it is asked for anew. */
  async #takeThere(signal?: AbortSignal): Promise<void> {
    const { taking, under, facts: { operation } } = this.#at
    const tooLongMs = placeTimes.leaseMs / answersALease
    this.#wasThere = true
    let asked: Moment
    do {
      signal?.throwIfAborted()
      this.#turn = randomUUID()
      asked = this.#now()
      await taking({ operation, facts: this.#facts(), turn: this.#turn, under: under() })
    } while (this.#msSince(asked) >= tooLongMs)
    this.#isThere = true
    this.#looked = this.#now()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (!this.#isHere) void this.#giveThere(false)
    }, keptMs)
  }

  /**
   * Whether what is known was looked at just now, behind the row, which still says that a piece may
   * leave: whoever has put a stop since then waits for it. A piece that waits for long is looked
   * for again.
   */
  get hasLooked(): boolean {
    return this.#isHere && this.#isThere
      && this.#looked !== undefined && this.#msSince(this.#looked) < keptMs
  }

  /** Whether a piece may leave under it, once what is known was looked at. */
  get isHere(): boolean {
    return this.#isHere
  }

  /** Looks again, where the last look is too old: the fence is taken anew, under the same. */
  async lookAgain(): Promise<void> {
    if (!this.hasLooked) await this.#takeThere()
  }

  #facts(): Buffer {
    const { facts, seal } = this.#at
    return seal.sealFor('fence', facts.operation, { ...facts, sent: this.#sent })
  }

  #giveThere(closed: boolean): Promise<boolean> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isThere = false
    const { facts: { operation } } = this.#at
    const [place, said, turn] = [this.#at.place(), this.#facts(), this.#turn]
    return noteSaying(place, () => place.giveFence(operation, said, turn, closed))
  }

  note(sent: FenceFacts['sent']): void {
    this.#at.local.note(sent)
    this.#sent = sent
  }

  give(): void {
    this.#at.local.give()
    this.#isHere = false
    // While the timer runs the row is kept for the next piece.
    if (this.#isThere && this.#timer === undefined) void this.#giveThere(false)
  }

  close(): void {
    const { local } = this.#at
    this.#isHere = false
    if (!this.#wasThere) return local.close()
    local.give()
    // The file stays until the place was told: by a file that nobody holds others know what to say.
    noteClosing(this.#giveThere(true).then((isSaid) => local.close(!isSaid)))
  }
}

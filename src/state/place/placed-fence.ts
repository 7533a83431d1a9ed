/**
 * The fence of an operation on a shared state: the file of this machine, and a row at the place
 * that says whether a piece may be leaving just now. The row is committed before stops are looked
 * at, and whoever stops has his stop committed before he looks at rows: so either the sender sees
 * the stop or the stopper sees the fence. It is taken under what the operation holds: a machine
 * that was silent for so long that others have it now (one that slept) sends nothing more.
 */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../base/clock.js'
import type { FenceFacts } from '../holds/fence.js'
import type { SendFence } from '../holds/holds.js'
import { noteClosing, noteSaying } from './closings.js'
import type { FenceTaking, Place } from './place.js'
import type { RecordSeal } from './record-seal.js'

/** For so long the row may say that a piece is leaving, so that not each piece costs a trip, ms. */
const keptMs = 50

/** What a fence needs of its store. */
interface FenceParts {
  readonly local: SendFence
  readonly facts: Omit<FenceFacts, 'sent'>
  readonly seal: RecordSeal
  readonly place: () => Place
  /** Tokens of the leases without which nothing may leave. */
  readonly under: () => readonly string[]
  /** Takes the fence at the place and takes in what was placed before, as of behind that. */
  taking(taking: FenceTaking): Promise<void>
}

/** See above. */
export class PlacedFence implements SendFence {
  readonly #at: FenceParts
  #sent: FenceFacts['sent'] = 'nothing'
  #isHere = false
  /** Whether the row says that a piece may be leaving. */
  #isThere = false
  #wasThere = false
  #lookedMs = 0
  /** Names the last time that it was taken there. */
  #turn = randomUUID()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: FenceParts) {
    this.#at = parts
  }

  async take(signal: AbortSignal): Promise<void> {
    await this.#at.local.take(signal)
    try {
      if (!this.#isThere) await this.#takeThere()
      signal.throwIfAborted()
    } catch (error) {
      this.#at.local.give()
      throw error
    }
    this.#isHere = true
  }

  async #takeThere(): Promise<void> {
    const { taking, under, facts: { operation } } = this.#at
    this.#wasThere = true
    this.#turn = randomUUID()
    await taking({ operation, facts: this.#facts(), turn: this.#turn, under: under() })
    this.#isThere = true
    this.#lookedMs = systemClock.monotonicMs()
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
    return this.#isHere && this.#isThere && systemClock.monotonicMs() - this.#lookedMs < keptMs
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

/**
 * Holds of a shared state: the kernel lock of this machine first, then a lease at the place. On its
 * own machine a dead process is known at once, by the kernel; one of another machine counts as
 * alive until its lease ends, which is after its longest request.
 */
import { deadFences, sweepFences, type FenceFacts, type Reached } from '../holds/fence.js'
import { guardName, guardState, type Guard, type HoldKind } from '../holds/guard.js'
import type { FenceWatch, Holds, Line, SendFence } from '../holds/holds.js'
import {
  checkGoing, holdUntil, lanePriorities, type Lane, type LaneRequest,
} from '../holds/lane.js'
import { fail } from '../../base/errors.js'
import { systemClock } from '../../base/clock.js'
import { noteClosing } from './closings.js'
import { deadTokens } from './dead-leases.js'
import type { Lease, Leases } from './leases.js'
import { nobody, type FenceTaking, type LeaseRow, type Place } from './place.js'
import { PlacedFence } from './placed-fence.js'
import type { PlacedStops } from './placed-stops.js'
import { anyStop, reachPlacedFences } from './reach.js'
import type { RecordSeal } from './record-seal.js'

/** Pause between two looks for the lane, ms. */
const lanePollMs = 100
/** For so long a waiter counts without a word, ms. */
const wantMs = 3_000

interface HoldParts {
  readonly dir: string
  /** Id of this machine at the place. */
  readonly machine: () => string
  readonly local: Holds
  readonly leases: Leases
  readonly seal: RecordSeal
  readonly stops: PlacedStops
  readonly place: () => Place
  /** See `FenceParts.taking`. */
  readonly taking: (taking: FenceTaking) => Promise<void>
  /** Leases of the look that covers all records that are known here; null where there is none. */
  readonly known: () => readonly LeaseRow[] | null
}

/** See above. */
export class PlacedHolds implements Holds {
  readonly #at: HoldParts

  constructor(parts: HoldParts) {
    this.#at = parts
  }

  async hold(kind: HoldKind, id: string): Promise<Guard> {
    const { local, leases } = this.#at
    const guard = await local.hold(kind, id)
    const lease = await this.#orRelease(guard, () => leases.take(`hold/${guardName(kind, id)}`))
    if (lease === null) {
      guard.release()
      throw fail.conflict('guard_held', 'Another machine is running this operation.', {
        details: { operation: id },
      })
    }
    return leases.bind({
      fd: guard.fd,
      release: () => both(guard.release, lease.release),
      // Only this machine asks for what a child of its own keeps.
      handOver: () => both(guard.handOver, lease.release),
    }, lease)
  }

  async #orRelease<T>(held: { release(): void }, fn: () => Promise<T>): Promise<T> {
    try {
      return await fn()
    } catch (error) {
      held.release()
      throw error
    }
  }

  /**
   * Whether another machine has a lease; `unknown`: what is said where that cannot be told. Behind
   * a promotion it cannot: the server that took over may lack leases of what is under way.
   */
  #isElsewhere(name: string, unknown: boolean): boolean {
    const known = this.#at.known()
    if (known === null) return unknown
    const machine = this.#at.machine()
    return known.some((lease) => lease.name === name && lease.machine !== machine)
      || (unknown && isJustAccepted(known))
  }

  isHeld(kind: HoldKind, id: string): boolean {
    const name = guardName(kind, id)
    const here = guardState(this.#at.dir, name)
    // Beside a file of a dead process there may be a live one where this directory was copied from.
    return here === 'live' || this.#isElsewhere(`hold/${name}`, here === 'absent')
  }

  live(): number {
    const { local, known, machine } = this.#at
    const leases = known()
    const others = leases === null || isJustAccepted(leases) ? 1
      : leases.filter(({ name, machine: whose }) =>
        name.startsWith('hold/') && whose !== machine()).length
    return local.live() + others
  }

  hasDead(): boolean {
    return this.#at.local.hasDead()
  }

  sweep(): void {
    const { dir, local } = this.#at
    // The files stay until it was told: nobody else can tell that their processes died.
    if (deadFences(dir).length === 0) local.sweep()
    else noteClosing(this.endDead().then(() => local.sweep()))
  }

  /**
   * Tells the place which requests of this machine nobody sends any more, and what nobody holds:
   * whoever stops something would wait for those, and name them, as long as they are not closed
   * there, and whoever wants to send or to resolve something would wait until a lease is over.
   */
  async endDead(): Promise<void> {
    await this.#endDeadFences()
    const { dir, known, place } = this.#at
    const tokens = deadTokens(dir, known() ?? [])
    if (tokens.length > 0) await place().release(tokens)
  }

  async #endDeadFences(): Promise<void> {
    const { dir, seal, place } = this.#at
    const dead = deadFences(dir)
    if (dead.length === 0) return
    for (const facts of dead) {
      const { operation } = facts
      await place().giveFence(
        operation, seal.sealFor('fence', operation, facts), crypto.randomUUID(), true)
    }
    // One whose process died meanwhile was not told of.
    sweepFences(dir, new Set(dead.map(({ operation }) => operation)))
  }

  async tryTurn(job: string): Promise<{ release(): void } | null> {
    const turn = await this.#at.local.tryTurn(job)
    if (turn === null) return null
    const lease = await this.#orRelease(turn, () => this.#at.leases.take(`turn/${job}`))
    if (lease !== null) return { release: () => both(() => turn.release(), lease.release) }
    turn.release()
    return null
  }

  line(owner: string): Line {
    return this.#at.local.line(owner)
  }

  async lane(request: Omit<LaneRequest, 'dir'>): Promise<Lane> {
    const { local, leases } = this.#at
    const ahead = lanePriorities.slice(0, lanePriorities.indexOf(request.priority))
      .map((priority) => `want/${priority}/`)
    let want: Want | null = null
    try {
      for (;;) {
        // Given back between two looks: on this machine too a higher priority goes first.
        const lane = await local.lane(request)
        const lease = await this.#orRelease(lane, () => leases.take('lane', ahead))
        if (lease !== null) {
          return leases.bind({
            holdUntilMs: holdUntil(request),
            release: () => both(lane.release, lease.release),
          }, lease)
        }
        lane.release()
        want ??= await this.#want(request)
        await want.renew()
        await request.clock.sleep(lanePollMs, request.signal)
        checkGoing(request)
      }
    } finally {
      want?.release()
    }
  }

  async #want({ priority }: Omit<LaneRequest, 'dir'>): Promise<Want> {
    const name = `want/${priority}/${crypto.randomUUID()}`
    const place = this.#at.place()
    const taken = async (): Promise<readonly string[]> => {
      const token = await place.take(name, wantMs)
      return token === null ? [] : [token]
    }
    let tokens = await taken()
    return {
      renew: async () => {
        // One that was over while the place did not answer does not come back.
        if ((await place.renew(tokens, wantMs)).length === 0) tokens = await taken()
      },
      release: () => void place.release(tokens).catch(() => undefined),
    }
  }

  fence(facts: Omit<FenceFacts, 'sent'>, under: readonly object[]): SendFence {
    const { local, leases, seal, place } = this.#at
    return new PlacedFence({
      local: local.fence(facts, under), facts, seal, place, taking: this.#at.taking,
      under: () => leases.tokensOf(under),
    })
  }

  watch(): FenceWatch {
    const { local, stops, place, seal, machine } = this.#at
    const watched = local.watch()
    const before = stops.putCount
    return {
      reach: async (covered, waitMs) => {
        const here = await watched.reach(covered, waitMs)
        const isPut = stops.putCount > before
        // What ended before has no stop now, and somebody who was silent then may be so still.
        const stop = isPut ? await stops.putAfter(before) : anyStop
        if (stop === undefined) return { ...here, unseen: true }
        const there = await reachPlacedFences(
          { place: place(), seal, machine: machine(), stop, clock: systemClock }, covered, waitMs)
        return joined(here, there)
      },
      close: () => watched.close(),
    }
  }
}

/** Whether the server was made known less than one lease ago: see `Place.accept`. */
const isJustAccepted = (leases: readonly LeaseRow[]): boolean =>
  leases.some(({ name, machine }) => name === 'lane' && machine.startsWith(nobody))

/** A waiter's place among those who want the lane. */
interface Want {
  renew(): Promise<void>
  release(): void
}

const both = (first: () => void, second: Lease['release']): void => {
  try {
    first()
  } finally {
    second()
  }
}

const joined = (a: Reached, b: Reached): Reached =>
  ({ sent: [...a.sent, ...b.sent], underWay: [...a.underWay, ...b.underWay] })

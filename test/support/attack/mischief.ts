/** What happens to the server, to processes and to the providers meanwhile, by chance. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../chance.js'
import { systemClock } from '../../../src/base/clock.js'
import type { Attacked } from './attacked.js'
import type { Notes } from './notes.js'

/** Longest time for which something stands still, ms. */
const stillMs = 2_500
/** So many lines begin at most between two of them, and how long they are waited for, ms. */
const [linesMax, pauseMs] = [5, 20_000]
const pollMs = 50
/** For so long a process may stand still: longer than a lease. */
const stoppedMs = 8_000

const one = `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
  where application_name = 'sallyport' order by random() limit 1) as one`

type Deed = (at: Attacked, chance: Chance) => unknown

const processOf = ({ machines }: Attacked, chance: Chance) => {
  const all = machines.flatMap((machine) =>
    [...machine.running].map((child) => ({ machine, child })))
  return all.length === 0 ? undefined : chance.pick(all)
}

const deeds: Readonly<Record<string, readonly [number, Deed]>> = {
  'one session ended': [8, async ({ server }) => void await server.query(one)],
  'all sessions ended': [2, ({ server }) => server.terminateAll()],
  'server started anew': [1, ({ server }) => server.restart()],
  'server killed': [1, async ({ server }, chance) => {
    await server.stop('SIGKILL')
    await sleep(chance.below(stillMs))
    await server.start()
  }],
  'server stood still': [1, async ({ server }, chance) => {
    server.signal('SIGSTOP')
    await sleep(chance.below(stillMs))
    server.signal('SIGCONT')
  }],
  'process killed': [5, (at, chance) => {
    const found = processOf(at, chance)
    found?.machine.kill(found.child)
  }],
  'process stood still': [5, async (at, chance) => {
    const found = processOf(at, chance)
    found?.child.kill('SIGSTOP')
    await sleep(chance.below(chance.next() < 0.4 ? stoppedMs : 500))
    found?.child.kill('SIGCONT')
  }],
  'provider late': [3, ({ first: { sandbox } }, chance) =>
    sandbox.faults.set('delay', { times: 2, value: chance.below(1_500) })],
  'provider reset': [2, ({ first: { sandbox } }, chance) =>
    sandbox.faults.set(chance.pick(['reset_before_headers', 'reset_mid_body', 'truncate']),
      { times: 1 })],
}

/** Goes on until it is ended; one thing after another, so that none stays as it is at the end. */
export class Mischief {
  readonly counts: Record<string, number> = {}
  readonly #at: Attacked
  readonly #notes: Notes
  readonly #chance: Chance
  #going: Promise<void> | undefined
  #isOver = true

  constructor(at: Attacked, notes: Notes, chance: Chance) {
    this.#at = at
    this.#notes = notes
    this.#chance = chance
  }

  /** Waits for some lines, so that a slow machine is struck as often as a fast one. */
  async #rest(): Promise<void> {
    const [lines, untilMs] = [
      this.#notes.operations + 1 + this.#chance.below(linesMax),
      systemClock.monotonicMs() + pauseMs,
    ]
    while (!this.#isOver && this.#notes.operations < lines
      && systemClock.monotonicMs() < untilMs) await sleep(pollMs)
    await sleep(this.#chance.below(stillMs / 5))
  }

  /** Begins, or goes on. */
  begin(): void {
    for (const { way } of this.#at.machines) way.setRough(true)
    this.#isOver = false
    this.#going = this.#go()
  }

  async #go(): Promise<void> {
    const all = Object.entries(deeds).flatMap(([name, [often, deed]]) =>
      Array.from({ length: often }, () => ({ name, deed })))
    while (!this.#isOver) {
      await this.#rest()
      const { name, deed } = this.#chance.pick(all)
      try {
        await deed(this.#at, this.#chance)
        this.counts[name] = (this.counts[name] ?? 0) + 1
      } catch {
        // A server that ends just now is not asked.
      }
    }
  }

  /** Ends it, and waits until nothing of it goes on. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#going
    for (const { way } of this.#at.machines) way.setRough(false)
    this.#at.first.sandbox.faults.clear()
  }
}

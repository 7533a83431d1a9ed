// Runs tests of a copy in which guards can be taken away: with all of them in place, to see which
// they come by, and without them, to see which test fails.
import { runTest } from './run-test.js'

/** A test without a guard may take longer than with it, but not for ever. */
const limitOf = (ms) => Math.min(300_000, 20_000 + 5 * ms)
const unbrokenLimitMs = 600_000

/** One copy and what is tried in it; the book is shared by all. */
export class Attempts {
  /** What no switch can reach. */
  woven
  #copy
  #book
  #keys
  #memory
  #env
  #limitMs
  #tried = new Set()
  #spent = new Map()

  constructor({ copy, woven, book, guards, memory, env, limitMs }) {
    this.woven = woven
    this.#copy = copy
    this.#book = book
    this.#keys = guards.map(({ key }) => key)
    this.#memory = memory
    this.#env = env
    this.#limitMs = limitMs
  }

  /** Notes which guards a test file comes by, and which refuse. */
  async comeBy(test, isAgain = false) {
    const done = this.woven.noting()
    const { ok, ms, why, ran } = await this.#run({ test, limitMs: unbrokenLimitMs })
    const found = done()
    this.woven.none()
    if (!ok && !isAgain) return this.comeBy(test, true)
    const times = new Map(ran.map((one) => [one.title, one.ms]))
    const parts = new Map()
    for (const [told, { reached, refused }] of found) {
      const title = times.has(told) ? told : ''
      const of = parts.get(title) ?? { reached: [], refused: [] }
      parts.set(title, {
        reached: [...new Set([...of.reached, ...reached])],
        refused: [...new Set([...of.refused, ...refused])],
      })
    }
    this.#book.noteUnbroken(test, this.#keys, {
      ok, ms, titles: [...parts].map(([title, more]) =>
        ({ title, ms: times.get(title) ?? ms, ...more })),
    })
    const how = ok ? '' : `; fails with every guard in place (${why})`
    const by = new Set([...parts.values()].flatMap(({ reached }) => reached)).size
    console.log(`            ${test}: comes by ${by}, ${ms} ms${how}`)
    return undefined
  }

  /** Whether a part of a test was run without a guard, or shall not be any more. */
  isTried(guard, test, title) {
    return this.#book.passed(guard, test, title) || this.#tried.has(tryOf(guard, test, title))
      || (this.#spent.get(guard.key) ?? 0) >= this.#limitMs
  }

  /**
   * Runs parts of a test file, each without one guard, and notes what they say.
   * @param {string} test
   * @param {readonly { guard: { key: string, id: number }, title: string, ms: number }[]} tries
   */
  async try(test, tries) {
    for (const { guard, title } of tries) this.#tried.add(tryOf(guard, test, title))
    const isWhole = ({ title }) => title === '' || this.#book.alone(test, title) === false
    const inTurns = tries.filter((one) => !isWhole(one))
    const unsure = inTurns.length === 0 ? [] : await this.#inTurns(test, inTurns)
    for (const one of [...unsure, ...tries.filter(isWhole)]) {
      if (this.#book.killer(one.guard) === undefined) await this.#alone(test, one)
    }
  }

  /**
   * Runs tests of a file in one process, each once without every guard that is named for it and at
   * last with all in place. That one has to pass: else a failure before it may have another cause
   * (a busy machine, what a turn left behind, a test that needs the others of its file).
   * @returns tries of which this does not say enough
   */
  async #inTurns(test, tries) {
    const byTitle = grouped(tries)
    this.woven.turns(Object.fromEntries([...byTitle].map(([title, of]) =>
      [title, of.map(({ guard }) => guard.id)])))
    const expected = [...byTitle.values()]
      .reduce((sum, of) => sum + of[0].ms * (of.length + 1), 0)
    const { ran, ms } = await this.#run({ test, limitMs: limitOf(expected) })
    this.woven.none()
    // In the order in which they ran: what one noticed the later ones did not try.
    const titles = ran.map(({ title }) => title).filter((one) => byTitle.has(one))
    const failed = new Set()
    const unsure = []
    for (const title of new Set([...titles, ...byTitle.keys()])) {
      const turns = ran.filter((one) => one.title === title)
      const of = byTitle.get(title)
      const isSure = turns.length === of.length + 1 && turns.at(-1).ok
      for (const [at, one] of of.entries()) {
        if (failed.has(one.guard.id)) continue
        const turn = turns[at]
        this.#spend(one.guard, turn?.ms ?? ms / tries.length)
        if (turn?.ok !== true) failed.add(one.guard.id)
        if (turn?.ok === true && turns.length > at + 1) {
          this.#book.notePassed(one.guard, test, title)
        } else if (isSure) this.#book.noteKilled(one.guard, test, title, turn.why)
        else unsure.push(one)
      }
    }
    return unsure
  }

  /** Runs a part of a test without one guard in a process of its own. */
  async #alone(test, one) {
    const { guard, title } = one
    const ran = await this.#without(test, one)
    this.#spend(guard, ran.ms)
    if (ran.ok) this.#book.notePassed(guard, test, title)
    else this.#book.noteKilled(guard, test, title, ran.why)
  }

  /**
   * On a busy machine what fails must fail again, and what took too long must not with the guard;
   * one that needs the others of its file is run with them.
   */
  async #without(test, { guard, title, ms }) {
    const limitMs = limitOf(ms)
    const run = async (how, only) => {
      if (only) this.woven.only(guard.id)
      const ran = await this.#run({ test, title: how, limitMs, bail: true })
      this.woven.none()
      return ran
    }
    const ran = await run(title, true)
    if (ran.ok) return ran
    if (title !== '' && this.#book.alone(test, title) === undefined) {
      this.#book.noteAlone(test, title, (await run(title, false)).ok)
    }
    const isAlone = title === '' || this.#book.alone(test, title) !== false
    const again = await run(isAlone ? title : '', !ran.late)
    return { ...ran, ok: ran.late ? !again.ok : again.ok, ms: ran.ms + again.ms }
  }

  #spend({ key }, ms) {
    this.#spent.set(key, (this.#spent.get(key) ?? 0) + ms)
  }

  #run({ test, title, limitMs, bail = false }) {
    const file = this.#copy.outputOf(test)
    const place = this.#memory === null || test.startsWith('test/state/')
      ? {} : { TMPDIR: this.#memory }
    return runTest({
      dir: this.#copy.dir, file, title, limitMs,
      env: { ...this.#env, ...place, ...(bail ? { TAP_BAIL: '1' } : {}) },
    })
  }
}

const tryOf = ({ key }, test, title) => `${key} ${test} ${title}`

const grouped = (tries) => {
  const byTitle = new Map()
  for (const one of tries) byTitle.set(one.title, [...(byTitle.get(one.title) ?? []), one])
  return byTitle
}

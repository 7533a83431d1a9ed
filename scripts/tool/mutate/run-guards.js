// `npm run mutate -- guards`: takes one guard away after the other and runs the tests that come by
// it until one fails: first the one that is known to, then those in which it refused, then the
// others; of each kind the nearest first.
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { filesBelow } from '../files.js'
import { folderInMemory } from '../memory.js'
import { root } from '../run.js'
import { expectedSeconds } from '../seconds.js'
import { compileTree } from '../tree.js'
import { copyProject } from './copy.js'
import { environment } from './environment.js'
import { GuardBook } from './guard-book.js'
import { guardExcuse, listedGuards } from './guard-list.js'
import { findGuards } from './guards.js'
import { knownKillers, readKillers, writeKillers } from './killers.js'
import { endTests } from './run-test.js'
import { Attempts } from './attempts.js'
import { weaveCopy } from './woven.js'

/**
 * Takes guards away.
 * @param {{ wanted: (guard: { key: string, file: string }) => boolean, jobs: number,
 *   limitMs: number, near: boolean, quick: boolean, fresh: boolean, cells: boolean,
 *   write: boolean, tests: readonly string[] | null }} options `limitMs` is how long tests of one
 *   guard are run for; `near` leaves tests of other folders out; `quick` leaves out what takes
 *   long for the few guards that it may notice, and does not run tests without a guard that only
 *   asks and never refused in them; `cells` goes through tables whole, not by slices; `write` keeps
 *   what was found in the checked list; `tests` are the files that are run, all where it is null
 * @returns {Promise<readonly { key: string, kind: string, excused: boolean,
 *   verdict: 'killed' | 'survived' | 'unreached' | 'unfinished', why: string }[]>} `unfinished`:
 *   no test of those that were run noticed, and there are more
 */
export const runGuards = async (options) => {
  const problems = await compileTree()
  if (problems.length > 0) throw new Error(`the checkout does not compile: ${problems[0]}`)
  const memory = folderInMemory()
  const stop = () => {
    endTests()
    if (memory !== null) rmSync(memory, { recursive: true, force: true })
    process.exit(130)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    return await new Hunt(options, memory).run()
  } finally {
    if (memory !== null) rmSync(memory, { recursive: true, force: true })
  }
}

/** What a test file may take, of a processor, for each guard that it may come by. */
const quickSeconds = 2

class Hunt {
  #options
  #memory
  #workers
  #book
  #known
  #guards
  #wanted
  #tests
  #secondsOf = expectedSeconds('short')

  constructor(options, memory) {
    this.#options = options
    this.#memory = memory
  }

  async run() {
    await this.#prepare()
    console.log(`${this.#wanted.length} of ${this.#guards.length} guards, `
      + `${this.#tests.length} test files`)
    await this.#tryKnown()
    const rounds = Array.from(
      { length: Math.max(0, ...this.#wanted.map(({ file }) => depthOf(file) + 1)) },
      (_, round) => round,
    )
    // What asks refuses where it is noticed; what makes durable never does.
    const isAsking = ({ kind }) => kind === 'asks'
    for (const round of rounds) {
      await this.#each(this.#testsOfRound(round), (worker, test) =>
        this.#meet(worker, test, this.#openBy(test, round), { refused: true }))
      await this.#each(this.#testsOfRound(round), (worker, test) =>
        this.#meet(worker, test, this.#openBy(test, round).filter((one) => !isAsking(one))))
    }
    for (const round of this.#options.quick ? [] : rounds) {
      await this.#each(this.#testsOfRound(round), (worker, test) =>
        this.#meet(worker, test, this.#openBy(test, round)))
    }
    return this.#wanted.map((guard) => this.#verdict(guard))
  }

  async #prepare() {
    const { jobs, fresh, wanted, cells } = this.#options
    const copies = []
    for (let at = 1; at <= jobs; at += 1) {
      copies.push(await copyProject(join(root, '.build/mutate', `guards-${at}`)))
    }
    const found = copies.map(({ dir }) => findGuards(dir))
    const [first] = copies
    this.#guards = found[0].map((one, id) => ({ ...one, id, whole: true, told: true }))
    if (found.some((one) => JSON.stringify(one) !== JSON.stringify(found[0]))) {
      throw new Error('the sources changed while they were copied')
    }
    this.#wanted = this.#guards.filter(wanted)
    this.#tests = filesBelow(join(first.dir, 'test')).map((path) => relative(first.dir, path))
      .filter((path) => path.endsWith('.test.ts')
        && (this.#options.tests?.includes(path) ?? true))
      .sort()
    this.#book = new GuardBook(join(root, `.build/guards${cells ? '-cells' : ''}.json`),
      (file) => readFileSync(join(first.dir, file)), { fresh })
    this.#known = knownKillers(readKillers(root), new Set(this.#guards.map(({ key }) => key)))
    const env = await environment(null, { short: !cells })
    this.#workers = []
    for (const copy of copies) {
      const woven = await weaveCopy(copy, this.#guards)
      this.#workers.push(new Attempts({
        copy, woven, book: this.#book, guards: this.#guards, memory: this.#memory,
        env: { ...env, SALLYPORT_TEST_APP: copy.appDir }, limitMs: this.#options.limitMs,
      }))
    }
  }

  /** Deals work out to the workers. */
  async #each(list, act) {
    const queue = [...list]
    await Promise.all(this.#workers.map(async (worker) => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) await act(worker, one)
    }))
  }

  /** Tries what noticed the absence of a guard when it was last gone. */
  async #tryKnown() {
    const byTest = new Map()
    for (const guard of this.#open()) {
      const { test, title } = this.#known(guard.key) ?? {}
      if (!this.#tests.includes(test)) continue
      byTest.set(test, [...(byTest.get(test) ?? []), { guard, title }])
    }
    await this.#each([...byTest], async (worker, [test, tries]) => {
      await worker.try(test, tries.map(({ guard, title }) => ({ guard, title, ms: 0 })))
      this.#tell(tries.map(({ guard }) => guard))
    })
  }

  /**
   * Runs parts of a test file without guards that it comes by, until each is noticed or none is
   * left; with `refused` those parts alone in which the guard refused.
   */
  async #meet(worker, test, guards, { refused = false } = {}) {
    if (guards.length === 0) return
    if (guards.some(({ key }) => this.#book.partsBy(test, key) === undefined)) {
      if (this.#options.quick && this.#secondsOf(test) > quickSeconds * guards.length) return
      await worker.comeBy(test)
    }
    // What it refuses is known of every guard now, also of those that lie further off.
    const tried = refused ? this.#open() : guards
    for (;;) {
      const tries = tried.filter((guard) => this.#isOpen(guard))
        .flatMap((guard) => this.#next(worker, test, guard, refused))
      if (tries.length === 0) break
      await worker.try(test, tries)
    }
    this.#tell(tried)
  }

  /** The next parts to run without a guard: those in which it refused, the shortest of them. */
  #next(worker, test, guard, refused) {
    const parts = (this.#book.partsBy(test, guard.key) ?? [])
      .filter((part) => (part.refused || !refused) && !worker.isTried(guard, test, part.title))
      .sort((a, b) => Number(b.refused) - Number(a.refused) || a.ms - b.ms)
    // Of those in which it did not refuse most tell nothing: several at once.
    return parts.slice(0, refused ? 1 : 8).map((part) => ({ guard, ...part }))
  }

  /** Says what was found out now, and keeps it. */
  #tell(guards) {
    const killed = guards.filter((guard) => !this.#isOpen(guard))
    for (const guard of killed) tell(this.#verdict(guard))
    if (killed.length === 0 || !this.#options.write) return
    const keys = new Map(this.#guards.map((guard) => [guard.key, guard]))
    writeKillers(root, this.#guards, (key) => this.#book.killer(keys.get(key)))
  }

  #isOpen(guard) {
    return this.#book.killer(guard) === undefined
      && !this.#workers.some(({ woven }) => woven.outside.has(guard.id))
  }

  #open() {
    return this.#wanted.filter((guard) => this.#isOpen(guard))
  }

  /** Guards without a known end by which a test may come that is so far away. */
  #openBy(test, round) {
    return this.#open().filter((guard) => roundOf(guard.file, test) === round)
  }

  /**
   * Tests that are so far from an open guard: first what noticed most of the other guards of its
   * folder, then what is named like its file, then the shortest.
   */
  #testsOfRound(round) {
    const roundsMax = (file) => depthOf(file) + (this.#options.near ? 0 : 1)
    const open = this.#open().filter(({ file }) => round < roundsMax(file))
    const names = new Set(open.map(({ file }) => nameOf(file)))
    const noticed = new Map()
    for (const guard of this.#guards) {
      const test = this.#book.killer(guard)?.test
      if (test !== undefined) noticed.set(test, (noticed.get(test) ?? 0) + 1)
    }
    const rankOf = (test) => [
      -(noticed.get(test) ?? 0), names.has(nameOf(test)) ? 0 : 1, this.#secondsOf(test),
    ]
    return this.#tests.filter((test) => open.some(({ file }) => roundOf(file, test) === round))
      .map((test) => ({ test, rank: rankOf(test) }))
      .sort(({ rank: a }, { rank: b }) => a[1] - b[1] || a[0] - b[0] || a[2] - b[2])
      .map(({ test }) => test)
  }

  #verdict(guard) {
    const { key, kind } = guard
    const excused = guardExcuse(listedGuards(root), guard) !== undefined
    const killed = this.#book.killer(guard)
    if (killed !== undefined) {
      const what = killed.title === '' ? killed.test : `${killed.test} > ${killed.title}`
      return { key, kind, excused, verdict: 'killed', why: `${what}: ${killed.why}` }
    }
    const all = this.#tests.map((test) => this.#book.partsBy(test, key)
      ?.map(({ title, refused }) => ({ test, title, refused })))
    const parts = all.flatMap((of) => of ?? [])
    const passed = parts.filter(({ test, title }) => this.#book.passed(guard, test, title))
    const why = `${passed.length} of ${parts.length} tests pass, `
      + `it refused in ${parts.filter(({ refused }) => refused).length}`
    if (all.includes(undefined) || passed.length < parts.length) {
      return { key, kind, excused, verdict: 'unfinished', why }
    }
    return { key, kind, excused, verdict: parts.length === 0 ? 'unreached' : 'survived', why }
  }
}

const nameOf = (file) => basename(file).split('.')[0]

const foldersOf = (file) => dirname(file).split('/').slice(1)

const depthOf = (file) => foldersOf(file).length

/** How many folders of a source a test does not share. */
const roundOf = (file, test) => {
  const theirs = foldersOf(test)
  const at = foldersOf(file).findIndex((name, place) => name !== theirs[place])
  return at < 0 ? 0 : depthOf(file) - at
}

const tell = ({ verdict, key, why, excused }) => {
  const mark = excused ? ' (listed)' : ''
  console.log(`${verdict.padEnd(10)}  ${key}${mark}\n            ${why}`)
}

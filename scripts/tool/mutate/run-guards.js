// `npm run mutate -- guards`: takes one guard away after the other and runs the tests that come by
// it, the nearest first, until one fails.
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { filesBelow } from '../files.js'
import { folderInMemory } from '../memory.js'
import { root } from '../run.js'
import { compileTree } from '../tree.js'
import { copyProject } from './copy.js'
import { environment } from './environment.js'
import { GuardBook } from './guard-book.js'
import { guardExcuse, listedGuards } from './guard-list.js'
import { findGuards } from './guards.js'
import { endTests, runTest } from './run-test.js'
import { weaveCopy } from './woven.js'

/** A test without a guard may take longer than with it, but not for ever. */
const limitOf = (ms) => Math.min(300_000, 20_000 + 5 * ms)
const unbrokenLimitMs = 600_000

/**
 * Takes guards away.
 * @param {{ wanted: (guard: { key: string, file: string }) => boolean, jobs: number,
 *   limitMs: number, near: boolean, fresh: boolean }} options `limitMs` is how long tests of one
 *   guard are run for; `near` leaves tests of other folders out
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

class Hunt {
  #options
  #memory
  #workers
  #book
  #guards
  #keys
  #wanted
  #tests
  #spent = new Map()

  constructor(options, memory) {
    this.#options = options
    this.#memory = memory
  }

  async run() {
    await this.#prepare()
    console.log(`${this.#wanted.length} of ${this.#guards.length} guards, `
      + `${this.#tests.length} test files`)
    const rounds = Math.max(0, ...this.#wanted.map(({ file }) => depthOf(file) + 1))
    for (let round = 0; round < rounds; round += 1) {
      const left = this.#wanted.filter((guard) => this.#isOpen(guard))
      const tests = new Set(left.flatMap((guard) => this.#testsOf(guard, round)))
      const unknown = [...tests].filter((test) =>
        left.some(({ key }) => this.#book.partsBy(test, key) === undefined))
      await this.#each(unknown, (worker, test) => this.#comeBy(worker, test))
      await this.#each(left, (worker, guard) => this.#take(worker, guard, round))
    }
    return this.#wanted.map((guard) => this.#verdict(guard))
  }

  async #prepare() {
    const { jobs, fresh, wanted } = this.#options
    const copies = []
    for (let at = 1; at <= jobs; at += 1) {
      copies.push(await copyProject(join(root, '.build/mutate', `guards-${at}`)))
    }
    const found = copies.map(({ dir }) => findGuards(dir))
    const [first] = copies
    this.#guards = found[0].map((one, id) => ({ ...one, id, whole: true }))
    if (found.some((one) => JSON.stringify(one) !== JSON.stringify(found[0]))) {
      throw new Error('the sources changed while they were copied')
    }
    this.#keys = this.#guards.map(({ key }) => key)
    this.#wanted = this.#guards.filter(wanted)
    this.#tests = filesBelow(join(first.dir, 'test')).map((path) => relative(first.dir, path))
      .filter((path) => path.endsWith('.test.ts')).sort()
    this.#book = new GuardBook(
      join(root, '.build/guards.json'), (file) => readFileSync(join(first.dir, file)), { fresh },
    )
    const env = await environment(null)
    this.#workers = []
    for (const copy of copies) {
      const woven = await weaveCopy(copy, this.#guards)
      this.#workers.push({ copy, woven, env: { ...env, SALLYPORT_TEST_APP: copy.appDir } })
    }
  }

  /** Deals work out to the workers. */
  async #each(list, act) {
    const queue = [...list]
    await Promise.all(this.#workers.map(async (worker) => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) await act(worker, one)
    }))
  }

  async #comeBy(worker, test, isAgain = false) {
    const done = worker.woven.noting()
    const { ok, ms, why, titles } = await this.#runTest(worker, { test, limitMs: unbrokenLimitMs })
    const found = done()
    if (!ok && !isAgain) return this.#comeBy(worker, test, true)
    const parts = new Map()
    for (const [told, reached] of found) {
      const title = titles.has(told) ? told : ''
      parts.set(title, [...new Set([...(parts.get(title) ?? []), ...reached])])
    }
    this.#book.noteUnbroken(test, this.#keys, {
      ok, ms, titles: [...parts].map(([title, reached]) =>
        ({ title, ms: titles.get(title) ?? ms, reached })),
    })
    const how = ok ? '' : `; fails with every guard in place (${why})`
    console.log(`            ${test}: comes by ${new Set([...parts.values()].flat()).size}${how}`)
    return undefined
  }

  async #take(worker, guard, round) {
    if (worker.woven.outside.has(guard.id)) return
    for (const part of this.#comingBy(guard, round)) {
      const { test, title } = part
      const spent = this.#spent.get(guard.key) ?? 0
      if (this.#book.passed(guard, test, title) || spent >= this.#options.limitMs) continue
      const ran = await this.#without(worker, guard, part)
      this.#spent.set(guard.key, spent + ran.ms)
      if (ran.ok) this.#book.notePassed(guard, test, title)
      else {
        this.#book.noteKilled(guard, test, title, ran.why)
        tell(this.#verdict(guard))
        return
      }
    }
  }

  /**
   * Runs a part of a test without a guard. On a busy machine what fails must fail again, and what
   * took too long must not with the guard; one that needs the others of its file is run with them.
   */
  async #without(worker, guard, { test, title, ms }) {
    const limitMs = limitOf(ms)
    const run = (how, only) => {
      if (only) worker.woven.only(guard.id)
      else worker.woven.none()
      return this.#runTest(worker, { test, title: how, limitMs })
    }
    const ran = await run(title, true)
    if (ran.ok) return ran
    if (title !== '' && this.#book.alone(test, title) === undefined) {
      this.#book.noteAlone(test, title, (await run(title, false)).ok)
    }
    const isAlone = title === '' || this.#book.alone(test, title)
    const again = await run(isAlone ? title : '', !ran.late)
    return { ...ran, ok: ran.late ? !again.ok : again.ok, ms: ran.ms + again.ms }
  }

  #runTest({ copy, env }, { test, title, limitMs }) {
    const file = copy.outputOf(test)
    const place = this.#memory === null || test.startsWith('test/state/')
      ? {} : { TMPDIR: this.#memory }
    return runTest({
      dir: copy.dir, file, title, limitMs, env: { ...env, ...place, TAP_BAIL: '1' },
    })
  }

  #isOpen(guard) {
    return this.#book.killer(guard) === undefined
  }

  /** Tests that share so many folders with a guard: all of them in the first round. */
  #testsOf({ file }, round) {
    const shared = depthOf(file) - round
    if (shared < 0 || (shared === 0 && this.#options.near)) return []
    return this.#tests.filter((test) => sharedFolders(file, test) === shared)
  }

  /**
   * The parts of those that come by the guard and pass with it: first of what noticed most of the
   * other guards of its file, then of what is named like it, then the shortest.
   */
  #comingBy(guard, round) {
    const noticed = this.#noticedIn(guard.file)
    return this.#testsOf(guard, round)
      .flatMap((test) => (this.#book.partsBy(test, guard.key) ?? []).map((part) => ({
        test, ...part,
        rank: [-(noticed.get(test) ?? 0), nameOf(test) === nameOf(guard.file) ? 0 : 1, part.ms],
      })))
      .sort(({ rank: a }, { rank: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
  }

  /** How many guards of a file each test was the first to notice. */
  #noticedIn(file) {
    const counts = new Map()
    for (const guard of this.#guards.filter((one) => one.file === file)) {
      const test = this.#book.killer(guard)?.test
      if (test !== undefined) counts.set(test, (counts.get(test) ?? 0) + 1)
    }
    return counts
  }

  #verdict(guard) {
    const { key, kind } = guard
    const excused = guardExcuse(listedGuards(root), guard) !== undefined
    const killed = this.#book.killer(guard)
    if (killed !== undefined) {
      const what = killed.title === '' ? killed.test : `${killed.test} > ${killed.title}`
      return { key, kind, excused, verdict: 'killed', why: `${what}: ${killed.why}` }
    }
    const rounds = Array.from({ length: depthOf(guard.file) + 1 }, (_, round) => round)
    const parts = rounds.flatMap((round) => this.#comingBy(guard, round))
    const passed = parts.filter(({ test, title }) => this.#book.passed(guard, test, title))
    if (parts.length === 0) return { key, kind, excused, verdict: 'unreached', why: 'no test' }
    const verdict = passed.length === parts.length ? 'survived' : 'unfinished'
    return { key, kind, excused, verdict, why: `${passed.length} of ${parts.length} tests pass` }
  }
}

const nameOf = (file) => basename(file).split('.')[0]

const foldersOf = (file) => dirname(file).split('/').slice(1)

const depthOf = (file) => foldersOf(file).length

const sharedFolders = (file, test) => {
  const theirs = foldersOf(test)
  const at = foldersOf(file).findIndex((name, place) => name !== theirs[place])
  return at < 0 ? depthOf(file) : at
}

const tell = ({ verdict, key, why, excused }) => {
  const mark = excused ? ' (listed)' : ''
  console.log(`${verdict.padEnd(10)}  ${key}${mark}\n            ${why}`)
}

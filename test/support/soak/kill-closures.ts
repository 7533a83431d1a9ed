/**
 * Closures of the program as processes that die: at each step that they announce, at each sync of
 * the shipped program (by strace, where there is one), and at random times. Each leaves the
 * capacity closed exactly once or as it was; the very same request then closes it, or is answered.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import type { Loose } from '../../world/place.js'
import { chanceOf } from '../chance.js'
import { closing, type Closing } from '../codehost/closing.js'
import { must } from '../must.js'
import { until } from '../until.js'
import { strace } from './strace.js'

const chance = chanceOf('kill-closures')

/** Every step that a closure announces; some once for each of its two reads. */
export const closureSteps = [
  'closure.kept', 'closure.before_resolve', 'closure.contact_begin', 'closure.contact_intent',
  'closure.before_first_byte', 'closure.replied', 'closure.before_resolve#2',
  'closure.before_first_byte#2', 'closure.replied#2', 'closure.proved', 'closure.staged',
  'closure.committed',
] as const

/** What the rounds came to. */
export interface ClosureKills {
  readonly rounds: number
  /** Rounds by how they were killed and what was left. */
  readonly left: Readonly<Record<string, number>>
  readonly requests: number
  readonly checks: number
}

type Way = 'step' | 'sync' | 'random'

interface Round {
  readonly way: Way
  readonly number: number
}

/** From the kept request to the end of a closure, and more, milliseconds. */
const keptMsMax = 150

const program = '/usr/bin/strace'
const tracing = ['-f', '-qq', '-e', 'trace=fsync,fdatasync']

/** The line of the shipped program under strace. */
const traced = (at: Closing, words: readonly string[], more: readonly string[]): ChildProcess => {
  const script = join(process.env['SALLYPORT_TEST_APP'] ?? '', 'sallyport.js')
  return spawn(program, [...tracing, ...more, process.execPath, script, ...words], {
    cwd: at.place.cwd, env: { ...at.place.env }, stdio: 'ignore',
  })
}

class Kills {
  readonly left = new Map<string, number>()
  requests = 0
  checks = 0
  /** Syncs of a whole closure; null until one was counted. */
  #syncs: number | null = null
  /** Milliseconds that a whole closure took. */
  #spanMs = 1_000

  #words(at: Closing, job: string, request: Loose): readonly string[] {
    return ['codehost', 'close-capacity', job, '--json', '--from',
      at.place.write(`${request['idempotency_key']}.json`, JSON.stringify(request))]
  }

  /** One closure to its end: how often it syncs, and how long it takes. */
  async #count(at: Closing): Promise<number> {
    const job = await at.unknown('Counted', 'numbered')
    const output = at.place.path('syncs')
    const begin = performance.now()
    await once(traced(at, this.#words(at, job, at.request(job)), ['-o', output]), 'exit')
    this.#spanMs = performance.now() - begin
    assert.notEqual(at.job(job).closed, null, 'a closure that nobody kills closes')
    return readFileSync(output, 'utf8').split('\n').filter((line) => line.includes('sync(')).length
  }

  async #kill(
    at: Closing, { way, number }: Round, words: readonly string[], kept: string,
  ): Promise<string> {
    if (way === 'step') {
      const step = closureSteps[number % closureSteps.length] ?? ''
      const { status } = await at.place.spawn(words, {
        entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
      })
      assert.equal(status, 137, `${step} was not reached`)
      return step
    }
    if (way === 'sync') {
      const when = number % (this.#syncs ?? 1) + 1
      await once(traced(at, words, [
        '-o', '/dev/null', '-e', `inject=fsync,fdatasync:signal=KILL:when=${when}`,
      ]), 'exit')
      return `sync ${when}`
    }
    // Most of its time a process starts: every other one is killed behind its first own file.
    const early = number % 2 === 0
    const { status } = await at.place.spawn(words, {
      coverage: false, onChild: (child) => void (early ? Promise.resolve() : until(
        'it is kept', () => existsSync(kept) || child.exitCode !== null))
        .then(() => sleep(chance.next() * (early ? this.#spanMs : keptMsMax)))
        .then(() => child.kill('SIGKILL')),
    })
    return `random${early ? '' : ', once kept'}${status === 137 ? '' : ', too late'}`
  }

  /** Exactly once or not at all, whole in either case. */
  #look(at: Closing, job: string, before: Loose): boolean {
    const [row, connection] = [at.job(job), at.connection()]
    const rows = at.view().all(closureCollection).filter(({ doc }) => doc.job_id === job)
    const { revision, closed, reserved, ...rest } = row
    const { revision: was, closed: none, reserved: held, ...same } = before.job
    assert.equal(none, null)
    assert.deepEqual(rest, same, 'nothing else of the job changed')
    const isClosed = closed !== null
    assert.deepEqual([revision, reserved, rows.length],
      isClosed ? [was + 1, false, 1] : [was, held, 0], 'closed once and whole, or not at all')
    assert.deepEqual(connection,
      isClosed ? { ...before.connection, active_job_id: null } : before.connection)
    return isClosed
  }

  async #round(at: Closing, round: Round): Promise<void> {
    const job = await at.unknown(`${round.way} ${round.number}`, 'numbered')
    const before = { job: at.job(job), connection: at.connection() }
    const request = at.request(job)
    const words = this.#words(at, job, request)
    const kept = join(at.place.stateDir, 'pending', `${request['idempotency_key']}.json`)
    let where = ''
    let isClosed = false
    const seen = await at.during(async () => {
      where = await this.#kill(at, round, words, kept)
      isClosed = this.#look(at, job, before)
      must(await at.run(words))
      must(await at.run(words))
    })
    assert.ok(seen.every((one) => one.startsWith('GET ')), `${where}: ${seen.join()}`)
    assert.ok(this.#look(at, job, before), `${where}: the same request closes it`)
    if (where === 'closure.committed') assert.ok(isClosed, where)
    const wasKept = round.way === 'step' || isClosed
    if (wasKept) assert.ok(existsSync(kept), `${where}: the request is kept`)
    const check = await at.run(['state', 'check'])
    assert.equal(check.status, 0, `${where}: ${check.stdout}${check.stderr}`)
    this.requests += seen.length
    this.checks += 1
    const told = `${where}: ${isClosed ? 'closed' : 'unchanged'}`
    this.left.set(told, (this.left.get(told) ?? 0) + 1)
  }

  /** So many rounds over one state. */
  async live(at: Closing, rounds: readonly Round[]): Promise<void> {
    if (strace()) this.#syncs ??= await this.#count(at)
    for (const round of rounds) await this.#round(at, round)
    const posts = at.posts().map(({ bodySha256 }) => bodySha256)
    assert.equal(new Set(posts).size, posts.length, 'nothing was sent twice')
  }
}

/** What a state holds grows with each round, and its consent ends: another one takes over then. */
const roundsPerState = 25

const roundsOf = (rounds: number): readonly Round[] => {
  const ways: readonly Way[] = strace() ? ['step', 'sync', 'random'] : ['step', 'random']
  return Array.from({ length: rounds }, (_, n) =>
    ({ way: ways[n % ways.length] ?? 'step', number: Math.floor(n / ways.length) }))
}

/** Kills so many closures. */
export const killClosures = async (rounds: number): Promise<ClosureKills> => {
  const kills = new Kills()
  const all = roundsOf(rounds)
  for (let done = 0; done < rounds; done += roundsPerState) {
    const teardowns: (() => Promise<void> | void)[] = []
    try {
      const at = await closing({ teardown: (end) => void teardowns.unshift(end) })
      await kills.live(at, all.slice(done, done + roundsPerState))
    } finally {
      for (const end of teardowns) await end()
    }
  }
  const { requests, checks } = kills
  return { rounds, left: Object.fromEntries([...kills.left].sort()), requests, checks }
}

/** The long loop. */
export const run = async (rounds: number): Promise<void> => {
  const report = await killClosures(rounds)
  process.stdout.write(`${JSON.stringify(report, null, 1)}\n${
    strace() ? '' : 'kills at syncs not measured (no strace)\n'}`)
}

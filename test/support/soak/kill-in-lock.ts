/**
 * Kills processes that write, each while it holds the state lock: asks, saves, goals, logins,
 * scans, settlements, revokes and compactions. After every kill the state is sound (temporary
 * files may lie there, and are named), the next writer has the lock at once, what was ever
 * acknowledged is there, and nothing was sent or done twice.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { collections } from '../../../src/governance/rows.js'
import { shotCollections } from '../../../src/shots/observations/observation-rows.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import type { Ran, Teardown } from '../../world/place.js'
import { World, type AlphaWorld } from '../../world/world.js'
import { chanceOf } from '../chance.js'
import { must } from '../must.js'
import { greyPng } from '../png.js'
import { account, afterRecovery, check, judge } from './ask-verdict.js'
import { lockWatch, type LockWatch, type Seen } from './lock-watch.js'

/** What a verb's rounds showed. */
export interface VerbRow {
  readonly rounds: number
  /** Killed while the process held the lock. */
  readonly inside: number
  /** Most windows that one process had. */
  readonly windows: number
}

/** What the loop showed. */
export interface LockKillReport {
  readonly verbs: Readonly<Record<string, VerbRow>>
  /** Kills that fell inside a window, over all verbs. */
  readonly inside: number
  readonly rounds: number
  readonly broken: readonly string[]
}

/** Then a new deployment takes over: what is judged after each round grows with every round. */
const insidePerDeployment = 50
const filesPerFolder = 4
/** A window is seldom missed; this many rounds for each kill are a watcher that does not work. */
const roundsPerKillMax = 4
/** The first process of a verb is only watched. */
const roundsMore = 20

interface Line {
  readonly argv: readonly string[]
  readonly stdin?: string
  /** What must hold of this line itself, after the kill; gives what does not. */
  after?(ran: Ran): Promise<readonly string[]>
}

const bound = roomy.boundMicrousd

class Deployment {
  readonly broken: string[] = []
  inside = 0
  #goals: string[] = []
  #number = 0

  constructor(readonly rig: AlphaWorld, readonly watch: LockWatch) {}

  /** Lines by verb, of which each round makes one; null where there is nothing to do. */
  readonly lines: Readonly<Record<string, () => Promise<Line | null>>> = {
    'goal add': async () => ({ argv: ['goal', 'add', `a goal ${randomUUID()}`] }),
    'alpha ask': async () => {
      const [question, key] = [`a question ${randomUUID()}`, randomUUID()]
      return {
        argv: ['alpha', 'ask', '-', '--json', '--idempotency-key', key], stdin: question,
        after: async (ran) => (await judge({ rig: this.rig, boundMicrousd: bound }, {
          ran, question, key,
        })).broken,
      }
    },
    'alpha setup': async () => ({
      argv: setupFlags(this.rig.place, await this.rig.revision(), roomy),
    }),
    login: async () => ({ argv: ['login'] }),
    'shots scan': async () => this.#scan(),
    'ledger settle': async () => this.#settle(),
    'policy revoke': async () => ({ argv: ['policy', 'revoke', '--json'] }),
    'state compact': async () => ({ argv: ['state', 'compact'] }),
    logout: async () => ({ argv: ['logout'] }),
  }

  #scan(): Line {
    const folder = this.rig.place.path(`shots${this.#number}`)
    mkdirSync(folder)
    const name = (at: number): string => `${at}.png`
    for (let at = 0; at < filesPerFolder; at += 1) {
      const bytes = greyPng(64, 48, this.#number * filesPerFolder + at)
      this.rig.place.write(join(`shots${this.#number}`, name(at)), bytes)
    }
    const argv = ['shots', 'scan', '--json', '--folder', folder]
    return {
      argv,
      after: async () => {
        must(await this.rig.run(argv))
        const rows = this.rig.view().all(shotCollections.observations)
          .filter(({ doc }) => doc.root === folder)
        return rows.length === filesPerFolder ? []
          : [`${rows.length} observations of ${filesPerFolder} files`]
      },
    }
  }

  #unknown(): string | undefined {
    return this.rig.view().all(collections.openReservations)
      .find(({ doc }) => doc.state === 'unknown')?.doc.operation_id
  }

  #settle(): Line | null {
    const operation = this.#unknown()
    if (operation === undefined) return null
    const argv = ['ledger', 'settle', operation, '--amount-microusd', '7', '--yes', '--json']
    return {
      argv,
      after: async () => {
        // It was settled and says so, or it was not and can be.
        const again = await this.rig.run(argv)
        const row = this.rig.view().get(collections.closedReservations, operation)
        const is = row?.charged_microusd === 7
          && (again.status === 0 || again.error().code === 'charge_not_unknown')
        return is ? [] : [`settled ${row?.charged_microusd}, then ${again.stderr}`]
      },
    }
  }

  /** One process, aimed at; what held afterwards. */
  async round(verb: string, to: Omit<Parameters<LockWatch['aim']>[0], 'pid'>) {
    this.#number += 1
    const line = await this.lines[verb]?.() ?? null
    if (line === null) return null
    let seen: Promise<Seen> | undefined
    const ran = await this.rig.place.spawn(line.argv, {
      coverage: false, ...(line.stdin === undefined ? {} : { stdin: line.stdin }),
      onChild: (child) => {
        const gone = new Promise((resolve) => child.once('exit', resolve))
        seen = this.watch.aim({ pid: child.pid ?? 0, ...to }, gone)
      },
    })
    const found = await seen as Seen
    if (found.isInside) this.inside += 1
    if (found.isInside !== (ran.status === 137)) {
      this.broken.push(`${verb}: ended with ${ran.status}: ${ran.stderr}`)
    } else if (!found.isInside && ran.status !== 0) {
      this.broken.push(`${verb}: left alone it ended with ${ran.status}: ${ran.stderr}`)
    }
    const wrong = await this.#judge(verb, line, ran)
    this.broken.push(...wrong.map((text) => `${verb}, window ${found.windowsMs.length}: ${text}`))
    return found
  }

  /** The next writers, the state, and everything that was ever acknowledged. */
  async #judge(verb: string, line: Line, ran: Ran): Promise<string[]> {
    const { rig } = this
    const wrong: string[] = []
    // A login of its own only where the session may be gone: an ask belongs to its session.
    const nextOne = ['login', 'logout'].includes(verb) ? ['login'] : ['goal', 'add', 'the next']
    const next = await rig.run([...nextOne, '--json', '--wait', '0'])
    if (next.status !== 0) wrong.push(`the next writer: ${next.status} ${next.stderr}`)
    wrong.push(...await check({ rig }))
    if (verb === 'policy revoke' && ran.status === 0
      && (await rig.json(['policy', 'show'])).block === null) wrong.push('revoked, yet open')
    if (['policy revoke', 'alpha setup'].includes(verb)) {
      must(await rig.run(setupFlags(rig.place, await rig.revision(), roomy)))
    }
    wrong.push(...await line.after?.(ran) ?? [])
    this.#goals.push((must(await rig.run(['goal', 'add', 'kept', '--json'])).json()).id)
    const lost = await afterRecovery({ rig }, (view) => [
      ...account(view, bound),
      ...this.#goals.filter((id) => view.get(collections.goals, id) === undefined)
        .map(() => 'an acknowledged goal is gone'),
    ])
    return [...wrong, ...lost]
  }
}

const makeDeployment = async (t: Teardown): Promise<Deployment> => {
  const rig = await World.in(t).sandbox().state().session().alpha({ money: roomy })
  const watch = lockWatch(join(rig.place.stateDir, 'lock'))
  t.teardown(() => watch.close())
  return new Deployment(rig, watch)
}

const chance = chanceOf('kill-in-lock')

/** How long and how many windows the processes of a verb have: learned as the rounds go. */
class Windows {
  readonly #lengthsMs: number[] = []
  most = 0
  rounds = 0
  inside = 0

  learn({ windowsMs, isInside }: Seen): void {
    this.rounds += 1
    if (isInside) this.inside += 1
    this.most = Math.max(this.most, windowsMs.length)
    this.#lengthsMs.push(...(isInside ? windowsMs.slice(0, -1) : windowsMs))
  }

  /** Any window, at any moment of it. */
  aim(): { readonly skip: number; readonly delayMs: number } {
    if (this.most === 0) return { skip: 0, delayMs: Infinity }
    const length = this.#lengthsMs[chance.below(this.#lengthsMs.length)] ?? 1
    return { skip: chance.below(this.most), delayMs: chance.next() * length }
  }
}

/** Whether this system shows who holds a lock. */
export const showsLocks = (): boolean => existsSync('/proc/locks')

/** What the deployments of one loop share. */
class Loop {
  readonly #verbs = new Map<string, Windows>()
  readonly #broken: string[] = []
  #inside = 0
  #rounds = 0

  constructor(readonly t: Teardown, readonly kills: number) {}

  get #isOver(): boolean {
    return this.#inside >= this.kills || this.#rounds >= this.kills * roundsPerKillMax + roundsMore
  }

  /** One deployment after the other, until the kills are done. */
  async work(): Promise<void> {
    while (!this.#isOver) {
      const deployment = await makeDeployment(this.t)
      while (!this.#isOver && deployment.inside < insidePerDeployment) await this.#round(deployment)
      this.#broken.push(...deployment.broken)
    }
  }

  async #round(deployment: Deployment): Promise<void> {
    const names = Object.keys(deployment.lines)
    const verb = names[this.#rounds % names.length] as string
    this.#rounds += 1
    const windows = this.#verbs.get(verb) ?? new Windows()
    this.#verbs.set(verb, windows)
    const seen = await deployment.round(verb, windows.aim())
    if (seen === null) return
    windows.learn(seen)
    if (seen.isInside) this.#inside += 1
  }

  report(): LockKillReport {
    const missing = this.kills - this.#inside
    return {
      verbs: Object.fromEntries([...this.#verbs].map(([name, { rounds, inside, most }]) =>
        [name, { rounds, inside, windows: most }])),
      inside: this.#inside, rounds: this.#rounds,
      broken: missing <= 0 ? this.#broken
        : [...this.#broken, `${missing} of ${this.kills} kills did not fall inside the window`],
    }
  }
}

/**
 * Kills inside the lock window until `kills` fell there, or a few more in so many deployments.
 * Deployments go with `t`.
 */
export const killInLock = async (
  t: Teardown, kills: number, deployments = 1,
): Promise<LockKillReport> => {
  const loop = new Loop(t, kills)
  await Promise.all(Array.from({ length: deployments }, () => loop.work()))
  return loop.report()
}

/** The long loop: so many kills inside the window. */
export const run = async (rounds: number): Promise<void> => {
  if (!showsLocks()) return void process.stdout.write('not here: there is no /proc/locks\n')
  const undo: (() => Promise<void> | void)[] = []
  try {
    const report = await killInLock({ teardown: (done) => void undo.push(done) }, rounds, 2)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (report.broken.length > 0) throw new Error(report.broken.join('\n'))
  } finally {
    for (const done of undo.reverse()) await done()
  }
}

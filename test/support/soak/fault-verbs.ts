/**
 * A real disk that fails under whole commands: EIO, ENOSPC and a short write at every changing call
 * of an ask, a revoke, a save, a logout, a repair, a restore, a compaction, a prune and a backup,
 * whichever file it is: log, marks of contacts, artifacts, anchor, stops, fences, lanes. Afterwards
 * the state is sound or says why not, no question is sent twice, and no money is available that is
 * not there.
 */
import { randomUUID } from 'node:crypto'
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../src/base/clock.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import type { Ran, Teardown } from '../../world/place.js'
import { World, type AlphaWorld } from '../../world/world.js'
import { movedClock } from '../clock.js'
import { must } from '../must.js'
import { onFailingDisk, type DiskFault, type DiskPlan } from './failing-disk.js'

/** What the loop showed of one command. */
export interface FaultRow {
  /** Changing calls that it makes when nothing fails. */
  readonly calls: number
  readonly injected: number
  /** Ended well although a call failed. */
  readonly done: number
  /** Refused or failed, by the code that it named. */
  readonly codes: Readonly<Record<string, number>>
  /** States that `state check` called damaged afterwards, each repaired. */
  readonly damaged: number
}

/** What the loop showed. */
export interface FaultReport {
  readonly commands: Readonly<Record<string, FaultRow>>
  readonly broken: readonly string[]
}

const faults: readonly DiskFault[] = ['EIO', 'ENOSPC', 'short']
/** Of one length: each costs the same. */
const answered = { question: 'number one', key: randomUUID() }
const unknown = { question: 'number two', key: randomUUID() }
const fresh = { question: 'number six', key: randomUUID() }
type Asked = typeof fresh

const ask = (rig: AlphaWorld, { question, key }: Asked): Promise<Ran> =>
  rig.run(['alpha', 'ask', '-', '--json', '--idempotency-key', key], { stdin: question })

/** One byte of the newest log is untrue in more than one bit, in the middle of its records. */
const damage = ({ place }: AlphaWorld): void => {
  const wal = join(place.stateDir, 'wal')
  const newest = readdirSync(wal).filter((name) => name.endsWith('.log')).sort().at(-1) ?? ''
  const bytes = readFileSync(join(wal, newest))
  bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 40)
  writeFileSync(join(wal, newest), bytes)
}

/** A command on a fresh copy of the state, and what must be done to the copy before. */
interface Work {
  readonly before?: (rig: AlphaWorld) => void | Promise<void>
  readonly line: (rig: AlphaWorld) => Promise<Ran>
}

const works: Readonly<Record<string, Work>> = {
  'alpha ask': { line: (rig) => ask(rig, fresh) },
  'policy revoke': { line: (rig) => rig.run(['policy', 'revoke', '--json']) },
  'alpha setup': {
    line: async (rig) => rig.run(setupFlags(rig.place, await rig.revision(), roomy)),
  },
  logout: { line: (rig) => rig.run(['logout', '--json']) },
  'state repair': { before: damage, line: (rig) => rig.run(['state', 'repair', '--json']) },
  'state restore': {
    line: (rig) => rig.run(['state', 'restore', rig.place.path('backup'), '--yes', '--json']),
  },
  'state compact': { line: (rig) => rig.run(['state', 'compact', '--json']) },
  'state prune': {
    before: async (rig) => void must(await rig.run(['login'], { clock: aged() })),
    line: (rig) =>
      rig.run(['state', 'prune', '--older-than', '30d', '--yes', '--json'], { clock: aged() }),
  },
  'state backup': {
    line: (rig) => rig.run(['state', 'backup', rig.place.path('other'), '--json']),
  },
}

/** A hundred days later than the asks. */
const aged = (): Clock => {
  const clock = movedClock()
  clock.stepWall(100 * 24 * 3_600_000)
  return clock
}

class Rounds {
  readonly broken: string[] = []
  /** Micro-USD that one answered question costs here. */
  #cost = 0
  readonly #kept: string

  constructor(readonly rig: AlphaWorld) {
    this.#kept = rig.place.path('kept')
  }

  get #folders(): readonly (readonly [string, string])[] {
    const { stateDir, configDir } = this.rig.place
    return [[stateDir, join(this.#kept, 'state')], [configDir, join(this.#kept, 'config')]]
  }

  /** One answered and one unknown ask, a backup, and a copy of all of it. */
  async begin(): Promise<void> {
    const { rig } = this
    const { task: { id } } = must(await ask(rig, answered)).json()
    must(await rig.run(['alpha', 'review', id, '--approve']))
    this.#cost = (await rig.json(['ledger', 'show'])).ledger.settled_microusd
    must(await rig.run(['state', 'backup', rig.place.path('backup')]))
    rig.sandbox.faults.set('reset_before_headers', { service: 'provider', times: 1 })
    await ask(rig, unknown)
    rig.sandbox.faults.clear()
    const { ledger } = await rig.json(['ledger', 'show'])
    if (ledger.unknown_microusd !== roomy.boundMicrousd) throw new Error('nothing is unknown')
    for (const [from, to] of this.#folders) cpSync(from, to, { recursive: true })
  }

  #again(): void {
    rmSync(this.rig.place.path('other'), { recursive: true, force: true })
    for (const [to, from] of this.#folders) {
      rmSync(to, { recursive: true, force: true })
      cpSync(from, to, { recursive: true, preserveTimestamps: true })
    }
    this.rig.sandbox.log.clear()
  }

  /** The command under a plan, on a fresh copy. */
  async tried({ before, line }: Work, plan: DiskPlan): Promise<Ran> {
    this.#again()
    await before?.(this.rig)
    return onFailingDisk([this.rig.place.dir], plan, () => line(this.rig))
  }

  #sent(asked: Asked): number {
    return this.rig.inferences().filter(({ body }) => body.includes(asked.question)).length
  }

  /** What must hold afterwards; true when the state had to be repaired. */
  async judge(name: string, ran: Ran, where: string): Promise<boolean> {
    const { rig } = this
    const say = (ok: boolean, text: string): void => void (ok || this.broken.push(
      `${where}: ${text}`,
    ))
    say(ran.status === 0 || ran.error().code !== 'unexpected', `a failure without a name: ${
      ran.stderr}`)
    const checked = await rig.run(['state', 'check', '--json'])
    const { ok, problems } = checked.json()
    say(ok === (checked.status === 0), `check says ${ok} and ends with ${checked.status}`)
    if (!ok) {
      say(problems.some(({ severity }: { severity: string }) => severity !== 'notice'),
        'damaged for no reason')
      const repaired = await rig.run(['state', 'repair', '--json'])
      say(repaired.status === 0, `not repaired: ${repaired.stderr}`)
    }
    if (name === 'policy revoke' && ran.status === 0) {
      await ask(rig, fresh)
      say(this.#sent(fresh) === 0, 'asked after a revoke that was answered')
    }
    must(await rig.run(['login']))
    const setUp = await rig.run(setupFlags(rig.place, await rig.revision(), roomy))
    say(setUp.status === 0, `no grant any more: ${setUp.stderr}`)
    for (const asked of [fresh, unknown, answered]) await ask(rig, asked)
    say(this.#sent(fresh) <= 1, 'the question was sent twice')
    say(this.#sent(unknown) + this.#sent(answered) === 0, 'an older question was sent again')
    const { ledger } = await rig.json(['ledger', 'show'])
    const spent = this.#cost * (1 + this.#sent(fresh)) + roomy.boundMicrousd
    say(ledger.available_microusd <= ledger.ceiling_microusd - spent,
      `${ledger.available_microusd} micro-USD are available, ${spent} are not`)
    return !ok
  }
}

/** One command with each fault at every `stride`-th of its calls. */
const faultsOf = async (rounds: Rounds, name: string, stride: number): Promise<FaultRow> => {
  const work = works[name] as Work
  const counted: DiskPlan = { at: 0, fault: 'EIO', seen: [] }
  must(await rounds.tried(work, counted))
  const calls = counted.seen.length
  const row = { calls, injected: 0, done: 0, damaged: 0 }
  const codes: Record<string, number> = {}
  for (const [number, fault] of faults.entries()) {
    for (let at = 1 + number % stride; at <= calls; at += stride) {
      if (fault === 'short' && !counted.seen[at - 1]?.startsWith('writeSync')) continue
      const plan: DiskPlan = { at, fault, seen: [] }
      const ran = await rounds.tried(work, plan)
      row.injected += 1
      const code = ran.status === 0 ? null : ran.error().code
      if (code === null) row.done += 1
      else codes[code] = (codes[code] ?? 0) + 1
      const where = `${name}, ${fault} at call ${at}, ${plan.seen[at - 1] ?? 'which never came'}`
      if (await rounds.judge(name, ran, where)) row.damaged += 1
    }
  }
  return { ...row, codes }
}

/** Injects each fault at every `stride`-th changing call of each command. */
export const faultVerbs = async (
  t: Teardown, stride: number, names: readonly string[] = Object.keys(works),
): Promise<FaultReport> => {
  const rig = await World.in(t).sandbox().state().session().alpha({ money: roomy })
  const rounds = new Rounds(rig)
  await rounds.begin()
  const commands: Record<string, FaultRow> = {}
  for (const name of names) {
    commands[name] = await faultsOf(rounds, name, stride)
  }
  return { commands, broken: rounds.broken }
}

/** Rounds from which on every call fails once; fewer leave calls out. */
const roundsForAll = 200

/** The long loop: with 200 rounds or more, every call of every command. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  try {
    const stride = Math.max(1, Math.round(roundsForAll / Math.max(1, rounds)))
    const report = await faultVerbs({ teardown: (done) => void undo.push(done) }, stride)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (report.broken.length > 0) process.exitCode = 1
  } finally {
    for (const done of undo.reverse()) await done()
  }
}

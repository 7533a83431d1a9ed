/**
 * One deployment in which asks are killed again and again: spawns an ask as a real process, ends it
 * with SIGKILL at the moment that the round names, and says how far it had come.
 */
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setupFlags } from '../../world/alpha.js'
import type { Ran, Teardown } from '../../world/place.js'
import { World, type AlphaWorld } from '../../world/world.js'
import { must } from '../must.js'

/** Every step that an ask announces, in order; the second billing step needs a first that fails. */
export const askSteps = [
  'ask.admit', 'ask.admitted', 'ask.queued', 'ask.slot', 'ask.reserved', 'ask.before_resolve',
  'ask.before_dial', 'ask.contact_begin', 'ask.contact_intent', 'ask.before_first_byte',
  'ask.replied', 'ask.billing_1', 'ask.billing_2', 'ask.charge_known', 'ask.answer_sealed',
  'ask.finished',
] as const

/** Moments at which the provider pulls the trigger: each POST, come and answered. */
export const providerMoments = [
  'completion received', 'completion answered', 'billing received', 'billing answered',
  'second billing received',
] as const
export type ProviderMoment = (typeof providerMoments)[number]

/** When one ask is killed. */
export type Round =
  | { readonly kind: 'failpoint'; readonly step: (typeof askSteps)[number] }
  | { readonly kind: 'provider'; readonly moment: ProviderMoment }
  /** A share, 0 to 1, of the time from the first durable record to the exit of a clean run. */
  | { readonly kind: 'timed'; readonly share: number; readonly second: boolean }

/** What one round left behind. */
export interface Killed {
  readonly round: Round
  readonly ran: Ran
  readonly question: string
  readonly key: string
  /** Last step that the process announced; null when it announced none. */
  readonly reached: string | null
  /** True when the process had ended by itself before the signal. */
  readonly early: boolean
}

/** The deployment and its trigger. */
export interface AskDeployment {
  readonly rig: AlphaWorld
  /** Micro-USD that every ask reserves. */
  readonly boundMicrousd: number
  kill(round: Round): Promise<Killed>
}

const boundMicrousd = 50_000
/** Room for 20,000 liabilities: every unknown charge keeps its bound. */
const ceilingMicrousd = 1_000_000_000
const calibrationRuns = 3
const pollMs = 1

/** What changes with every durable record: names and lengths of the log's files. */
const logMark = (stateDir: string): string => {
  const wal = join(stateDir, 'wal')
  return readdirSync(wal).map((name) => `${name} ${sizeOf(join(wal, name))}`).join()
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Waits for the first durable record after `before`, or for `ended`. */
const firstRecord = async (stateDir: string, before: string, ended: () => boolean) => {
  while (!ended() && logMark(stateDir) === before) await sleep(pollMs)
}

class Deployment implements AskDeployment {
  readonly boundMicrousd = boundMicrousd
  rig!: AlphaWorld
  #moment: ProviderMoment | null = null
  #fire: () => Promise<void> = async () => undefined
  #billings = 0
  #spanMs: number | null = null
  #number = 0

  /** Told by the sandbox; holds the reply back until the process is gone. */
  async at(route: string, when: 'received' | 'answered'): Promise<void> {
    if (route === 'billing' && when === 'received') this.#billings += 1
    const second = route === 'billing' && this.#billings === 2 ? 'second ' : ''
    if (`${second}${route} ${when}` === this.#moment) await this.#fire()
  }

  async kill(round: Round): Promise<Killed> {
    const second = (round.kind === 'timed' && round.second)
      || (round.kind === 'failpoint' && round.step === 'ask.billing_2')
      || (round.kind === 'provider' && round.moment === 'second billing received')
    if (round.kind === 'timed') this.#spanMs ??= await this.#calibrate()
    if (second) this.rig.sandbox.faults.set('billing_status_500', { times: 1 })
    this.#moment = round.kind === 'provider' ? round.moment : null
    const killed = await this.#spawn(round)
    this.#moment = null
    this.rig.sandbox.faults.clear()
    return killed
  }

  async #calibrate(): Promise<number> {
    const spans: number[] = []
    for (let run = 0; run < calibrationRuns; run += 1) {
      const before = logMark(this.rig.place.stateDir)
      let ended = false
      let began = 0
      const watch = firstRecord(this.rig.place.stateDir, before, () => ended)
        .then(() => { began = performance.now() })
      must(await this.rig.place.spawn(['alpha', 'ask', '-', '--json'], {
        entry: 'test', coverage: false, stdin: `a clean run, ${randomUUID()}`,
        onChild: (child) => child.once('exit', () => { ended = true }),
      }))
      await watch
      spans.push(performance.now() - began)
    }
    return spans.sort((a, b) => a - b)[Math.floor(calibrationRuns / 2)] ?? 0
  }

  async #spawn(round: Round): Promise<Killed> {
    const { place } = this.rig
    this.#number += 1
    this.#billings = 0
    const question = `round ${this.#number} ${randomUUID()}`
    const key = randomUUID()
    const steps = place.path('steps')
    rmSync(steps, { force: true })
    const before = logMark(place.stateDir)
    const ran = await place.spawn(['alpha', 'ask', '-', '--json', '--idempotency-key', key], {
      entry: 'test', coverage: false, stdin: question,
      env: {
        TEST_STEPS_FILE: steps,
        ...(round.kind === 'failpoint' ? { TEST_STOP_AT: round.step } : {}),
      },
      onChild: (child) => this.#arm(child, round, before),
    })
    const announced = sizeOf(steps) === 0 ? [] : readFileSync(steps, 'utf8').trim().split('\n')
    return {
      round, ran, question, key, reached: announced.at(-1) ?? null, early: ran.status !== 137,
    }
  }

  #arm(child: ChildProcess, round: Round, before: string): void {
    let ended = false
    const gone = new Promise<void>((resolve) => child.once('exit', () => {
      ended = true
      resolve()
    }))
    this.#fire = async () => {
      child.kill('SIGKILL')
      await gone
    }
    if (round.kind !== 'timed') return
    const delayMs = round.share * (this.#spanMs ?? 0)
    void firstRecord(this.rig.place.stateDir, before, () => ended)
      .then(() => sleep(delayMs))
      .then(() => (ended ? undefined : this.#fire()))
  }
}

/** Makes a deployment that goes when the loop ends. */
export const makeAskDeployment = async (t: Teardown): Promise<AskDeployment> => {
  const deployment = new Deployment()
  deployment.rig = await World.in(t).sandbox({
      hooks: {
        onRequest: (_service, { route }) => deployment.at(route, 'received'),
        onDone: (_service, { route }) => deployment.at(route, 'answered'),
      },
    }).state().session().alpha({ setUp: false })
  const { rig } = deployment
  const money = [
    '--request-cost-bound-microusd', String(boundMicrousd),
    '--spend-ceiling-microusd', String(ceilingMicrousd),
  ]
  const flags = setupFlags(rig.place, await rig.revision())
    .filter((word, at, all) => !money.includes(word) && !money.includes(all[at - 1] ?? ''))
  must(await rig.run([...flags, ...money]))
  return deployment
}

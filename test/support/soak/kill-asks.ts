/**
 * Asks that are killed with SIGKILL at every step, on every request of theirs, and at times spread
 * from their first durable record to their exit; each is judged and the rounds per step printed.
 */
import {
  askSteps, makeAskDeployment, providerMoments, type AskDeployment, type Killed, type Round,
} from './ask-deployment.js'
import { judge, type Outcome, type Verdict } from './ask-verdict.js'
import type { Teardown } from '../../world/place.js'

/** How much is killed. */
export interface KillPlan {
  /** Rounds at each announced step, and at each moment of the provider. */
  readonly perStep: number
  /** Rounds spread over the run time. */
  readonly timed: number
  /** Deployments that work side by side. */
  readonly deployments: number
}

/** Then a new deployment takes over: what is judged after each round grows with every round. */
const roundsPerDeployment = 40

/** Rounds of one step, by what triggered them and by how they ended. */
export interface StepRow {
  readonly step: string
  readonly by: Record<Round['kind'], number>
  readonly outcomes: Record<Outcome, number>
}

/** What a loop saw. */
export interface KillReport {
  readonly rows: readonly StepRow[]
  /** Rounds per moment of the provider. */
  readonly moments: Readonly<Record<string, number>>
  readonly killed: number
  /** Processes that had ended before the signal came. */
  readonly early: number
  readonly broken: readonly string[]
}

const roundsOf = ({ perStep, timed }: KillPlan): Round[] => [
  ...Array.from({ length: perStep }, () => [
    ...askSteps.map((step): Round => ({ kind: 'failpoint', step })),
    ...providerMoments.map((moment): Round => ({ kind: 'provider', moment })),
  ]).flat(),
  ...Array.from({ length: timed }, (_, at): Round => (
    { kind: 'timed', share: (at + 0.5) / timed, second: at % 4 === 3 }
  )),
]

const nothingReached = '(none announced)'

class Books {
  readonly #rows = new Map<string, StepRow>(
    [...askSteps, nothingReached].map((step) => [step, {
      step,
      by: { failpoint: 0, provider: 0, timed: 0 },
      outcomes: { 'no task': 0, released: 0, unknown: 0, answered: 0 },
    }]),
  )
  readonly #moments: Record<string, number> = {}
  readonly #broken: string[] = []
  #killed = 0
  #early = 0

  note({ round, reached, early, ran }: Killed, { outcome, broken }: Verdict): void {
    const where = round.kind === 'provider' ? round.moment : reached ?? nothingReached
    this.#broken.push(...broken.map((text) => `${round.kind} at ${where}: ${text}`))
    if (early) {
      this.#early += 1
      // Nothing of ours sent a signal yet: an ask that was left alone succeeds.
      if (ran.status !== 0) this.#broken.push(`by itself ended with ${ran.status}: ${ran.stderr}`)
      if (round.kind !== 'timed') this.#broken.push(`${round.kind} at ${where}: not killed`)
      return
    }
    this.#killed += 1
    if (round.kind === 'failpoint' && reached !== round.step) {
      this.#broken.push(`killed at ${String(reached)}, not at ${round.step}`)
    }
    const row = this.#rows.get(reached ?? nothingReached)
    if (row === undefined) return void this.#broken.push(`an unknown step: ${String(reached)}`)
    row.by[round.kind] += 1
    row.outcomes[outcome] += 1
    if (round.kind !== 'provider') return
    this.#moments[round.moment] = (this.#moments[round.moment] ?? 0) + 1
  }

  report(): KillReport {
    return {
      rows: [...this.#rows.values()].filter(({ by }) => by.failpoint + by.provider + by.timed > 0),
      moments: this.#moments,
      killed: this.#killed,
      early: this.#early,
      broken: this.#broken,
    }
  }
}

const work = async (deployment: AskDeployment, rounds: Round[], books: Books): Promise<void> => {
  for (let number = 0; number < roundsPerDeployment; number += 1) {
    const round = rounds.shift()
    if (round === undefined) return
    const killed = await deployment.kill(round)
    books.note(killed, await judge(deployment, killed))
    // A timed round that came too late is made up for a little earlier.
    if (killed.early && round.kind === 'timed') {
      rounds.push({ ...round, share: round.share * 0.9 })
    }
  }
}

/** Kills asks by the plan. Deployments go with `t`. */
export const killAsks = async (t: Teardown, plan: KillPlan): Promise<KillReport> => {
  const rounds = roundsOf(plan)
  const books = new Books()
  await Promise.all(Array.from({ length: plan.deployments }, async () => {
    while (rounds.length > 0) await work(await makeAskDeployment(t), rounds, books)
  }))
  return books.report()
}

const columns = [
  'failpoint', 'provider', 'timed', 'all', 'no task', 'released', 'unknown', 'answered',
] as const

/** The report as text: a row per step, then the provider's moments and the totals. */
export const tableOf = (report: KillReport): string => {
  const line = (name: string, cells: readonly (string | number)[]): string =>
    [name.padEnd(24), ...cells.map((cell) => String(cell).padStart(10))].join('')
  const rows = report.rows.map(({ step, by, outcomes }) => line(step, [
    by.failpoint, by.provider, by.timed, by.failpoint + by.provider + by.timed,
    outcomes['no task'], outcomes.released, outcomes.unknown, outcomes.answered,
  ]))
  const moments = Object.entries(report.moments).map(([name, count]) => line(name, [count]))
  return [
    line('last step reached', columns), ...rows, '',
    line('provider killed on', ['rounds']), ...moments, '',
    `${report.killed} processes killed, ${report.early} had ended before the signal, `
      + `${report.broken.length} rules broken`,
  ].join('\n')
}

const perStepMin = 8
const roundsPerStep = 20

/** The long loop: `rounds` spread over time, and at least 8 at every step. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  try {
    const report = await killAsks({ teardown: (done) => void undo.push(done) }, {
      timed: rounds, perStep: Math.max(perStepMin, Math.ceil(rounds / roundsPerStep)),
      deployments: 3,
    })
    process.stdout.write(`${tableOf(report)}\n`)
    if (report.broken.length > 0) throw new Error(report.broken.join('\n'))
  } finally {
    for (const done of undo.reverse()) await done()
  }
}

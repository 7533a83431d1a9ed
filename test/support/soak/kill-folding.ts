/**
 * Kills processes while they fold, merge and prune, at every step and at any moment. Every row that
 * was acknowledged and that no prune was asked to remove is there, with its sealed file; what was
 * asked for is there whole or gone whole; every key is spent for ever; and the state is sound.
 */
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { isoFromMs, systemClock } from '../../../src/base/clock.js'
import { checkWhole } from '../../../src/fabric/state-care.js'
import { silentObserver } from '../../../src/base/observer.js'
import { collections } from '../../../src/governance/rows.js'
import { openStore } from '../../../src/state/store.js'
import type { View } from '../../../src/state/types.js'
import type { Teardown } from '../../world/place.js'
import { seedTasks, type SeededTask, type Seeding } from '../fabric/seeded-tasks.js'
import { agingWorld, filesOf, logIn, prune, type AgingWorld } from '../fabric/pruned.js'
import { ask, keyOf } from '../fabric/copies.js'
import { must } from '../must.js'

const day = 24 * 3_600_000
/** Enough rows and bytes a round that the log is folded when the next process closes. */
const [oldInRound, youngInRound, padding] = [40, 8, 6000]
/** Rounds whose rows are looked at after each kill; all are at the end and now and then. */
const [recentRounds, everyRounds] = [2, 20]

const pruneLine = ['state', 'prune', '--older-than', '30d', '--yes', '--json'] as const

/** What is killed, at which step the clock of the kill begins, and how far it goes. */
const victims = [
  { line: pruneLine, from: 'prune.begun', withinMs: 150 },
  { line: ['goal', 'add', 'x', '--json'], from: null, withinMs: 700 },
  { line: pruneLine, from: 'prune.rows_gone', withinMs: 150 },
  { line: ['state', 'compact', '--json'], from: null, withinMs: 700 },
  { line: pruneLine, from: 'prune.forgotten', withinMs: 60 },
] as const

/** What the rounds showed. */
export interface FoldKills {
  readonly rounds: number
  /** Processes that were killed before they came to their end. */
  readonly killed: number
  /** By the newest step that a killed prune had announced. */
  readonly steps: Readonly<Record<string, number>>
  /** Rows that were followed, and how many of their tasks prunes removed. */
  readonly acknowledged: number
  readonly pruned: number
  readonly checks: number
  readonly broken: readonly string[]
}

interface Followed extends SeededTask {
  /** Whether a prune was ever asked to remove it. */
  asked: boolean
  readonly old: boolean
}

class Deployment {
  readonly broken: string[] = []
  readonly steps: Record<string, number> = {}
  readonly rows: Followed[][] = []
  killed = 0
  checks = 0

  constructor(readonly rig: AgingWorld) {}

  #expect(what: string, ok: boolean): void {
    if (!ok) this.broken.push(what)
  }

  #seeding(view: View, at: string): Seeding {
    const [goal] = view.all(collections.goals)
    const [root] = view.all(collections.roots)
    if (goal === undefined || root === undefined) throw new Error('no goal or session')
    const { owner } = goal.doc
    return { owner, root: root.id, goalId: goal.id, at, padding }
  }

  /** Rows of a round, acknowledged; their log is left for the victim to fold. */
  async seed(): Promise<void> {
    const { stateDir: dir, configDir } = this.rig.place
    const store = openStore({ dir, configDir, mode: 'write', logBytesMax: 1e9 })
    try {
      const nowMs = systemClock.wallMs()
      const aged = this.#seeding(store.read(), isoFromMs(nowMs - 100 * day))
      const fresh = { ...aged, at: isoFromMs(nowMs) }
      const old = await seedTasks(store, aged, oldInRound)
      const young = await seedTasks(store, fresh, youngInRound)
      this.rows.push([
        ...old.map((one) => ({ ...one, old: true, asked: false })),
        ...young.map((one) => ({ ...one, old: false, asked: false })),
      ])
    } finally {
      store.close()
    }
  }

  /** Runs a victim and kills it at a moment that no step decides. */
  async kill(round: number): Promise<void> {
    const victim = victims[round % victims.length] ?? victims[0]
    const stepsFile = this.rig.place.path('steps')
    rmSync(stepsFile, { force: true })
    const seen = (): string[] =>
      existsSync(stepsFile) ? readFileSync(stepsFile, 'utf8').trimEnd().split('\n') : []
    if (victim.from !== null) for (const rows of this.rows) for (const row of rows) row.asked = true
    const { place } = this.rig
    const ran = await place.spawn(victim.line, {
      entry: 'test', coverage: false, env: { TEST_STEPS_FILE: stepsFile },
      onChild: (child) => void this.#killLater(child, (round * 37) % victim.withinMs, () =>
        victim.from === null || seen().includes(victim.from)),
    })
    if (ran.status !== 137) {
      this.#expect(`round ${round}: ${victim.line.join(' ')}: ${ran.stderr}`, ran.status === 0)
      return
    }
    this.killed += 1
    const last = victim.from === null ? victim.line[1] : seen().filter((one) =>
      !/\d/.test(one)).at(-1) ?? 'none'
    this.steps[last] = (this.steps[last] ?? 0) + 1
  }

  /** The moments of a victim's rounds are spread over its time; no step decides them. */
  async #killLater(child: ChildProcess, afterMs: number, begun: () => boolean): Promise<void> {
    const gone = (): boolean => child.exitCode !== null || child.signalCode !== null
    while (!gone() && !begun()) await new Promise((wake) => setTimeout(wake, 2))
    await new Promise((wake) => setTimeout(wake, afterMs))
    child.kill('SIGKILL')
  }

  /** Looks at rows as another process does now. */
  look(rounds: readonly Followed[][], where: string): void {
    const { stateDir: dir, configDir } = this.rig.place
    const store = openStore({ dir, configDir, mode: 'read' })
    const files = new Set(filesOf(this.rig))
    try {
      const view = store.read()
      for (const row of rounds.flat()) this.#lookAt(view, files, row, where)
    } finally {
      store.close()
    }
  }

  #lookAt(view: View, files: ReadonlySet<string>, row: Followed, where: string): void {
    const key = view.get(collections.idempotency, row.key)
    this.#expect(`${where}: a key is forgotten`, key?.task_id === row.taskId)
    const hangs = [
      view.get(collections.jobs, row.jobId), view.get(collections.artifacts, row.artifactId),
      view.get(collections.decisions, row.decisionId),
    ].filter((one) => one !== undefined).length
    if (view.get(collections.closedTasks, row.taskId) !== undefined) {
      const whole = hangs === 3 && files.has(row.stored) && key?.pruned === undefined
      this.#expect(`${where}: a task lost a part of what hangs on it`, whole)
      return
    }
    this.#expect(`${where}: a row that was not asked for is gone`, row.old && row.asked)
    this.#expect(`${where}: a half of a task is gone`, hangs === 0 && key?.pruned !== undefined)
  }

  async check(where: string): Promise<void> {
    const { stateDir: dir, configDir } = this.rig.place
    const { problems } = await checkWhole({
      dir, configDir, waitMs: 10_000, clock: systemClock, observer: silentObserver, face: 'cli',
    })
    this.checks += 1
    const bad = problems.filter(({ severity }) => severity === 'damage' || severity === 'blocked')
    this.#expect(`${where}: ${bad.map(({ code }) => code).join()}`, bad.length === 0)
  }

  /** Nobody kills any more: one prune finishes what the killed ones began. */
  async finish(posts: number): Promise<void> {
    const { rig } = this
    rig.clock.stepWall(day)
    await logIn(rig)
    for (const rows of this.rows) for (const row of rows) row.asked = true
    must(await prune(rig))
    this.look(this.rows, 'at the end')
    await this.check('at the end')
    const view = rig.view()
    const followed = this.rows.flat()
    const left = followed.filter(({ taskId }) =>
      view.get(collections.closedTasks, taskId) !== undefined)
    this.#expect('an old task is left', left.every(({ old }) => !old))
    const files = new Set(filesOf(rig))
    this.#expect('a file without a row is left',
      followed.every(({ old, stored }) => !old || !files.has(stored)))
    this.#expect('the asked key is not spent', (await ask(rig, keyOf(0))).status !== 0
      || rig.inferences().length === posts)
    this.#expect('something was sent', rig.inferences().length === posts)
  }
}

/** Runs so many rounds over one state. */
export const killFolding = async (t: Teardown, rounds: number): Promise<FoldKills> => {
  const rig = await agingWorld(t)
  await logIn(rig)
  must(await ask(rig, keyOf(0)))
  const posts = rig.inferences().length
  const deployment = new Deployment(rig)
  for (let round = 0; round < rounds; round += 1) {
    await deployment.seed()
    await deployment.kill(round)
    const where = `round ${round}`
    const all = round % everyRounds === everyRounds - 1
    deployment.look(all ? deployment.rows : deployment.rows.slice(-recentRounds), where)
    if (all) await deployment.check(where)
  }
  await deployment.finish(posts)
  const { killed, steps, checks, broken, rows } = deployment
  const view = rig.view()
  const counted = view.all(collections.taskPrunes).reduce((sum, { doc }) => sum + doc.failed, 0)
  const pruned = rows.flat().filter(({ key }) =>
    view.get(collections.idempotency, key)?.pruned !== undefined).length
  if (counted !== pruned) broken.push(`tombstones count ${counted} of ${pruned}`)
  return {
    rounds, killed, steps, acknowledged: rows.flat().length, pruned, checks, broken,
  }
}

/** The long loop. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  try {
    const report = await killFolding({ teardown: (done) => void undo.push(done) }, rounds)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (report.broken.length > 0) throw new Error(report.broken.slice(0, 20).join('\n'))
  } finally {
    for (const done of undo.reverse()) await done()
  }
}

/**
 * The scheduler: three jobs, each on its own interval, each with its own receipt (S-127). A job
 * that fails is told and comes again; the others go on. Of one job there is never a second one
 * under way, neither here nor in another process of the same state directory that does the jobs so;
 * what a timer starts by itself takes no turn.
 */
import { isoFromMs } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import type { View } from '../state/types.js'
import { withCaptures } from './captures/take-in.js'
import type { JobName, TurnOutcome } from './constants.js'
import type { Env, ShotsContext } from './context.js'
import type { DigestReceipt } from './digest/types.js'
import type { AnalysisReceipt } from './receipts/analysis.js'
import type { ScanReceipt } from './receipts/scan.js'
import { scanFolder } from './scan/scan.js'
import { analysisSettings, digestSettings, ingestSettings } from './source/settings.js'

/** What a job gives back. */
type JobReceipt = ScanReceipt | AnalysisReceipt | DigestReceipt

/** One job of the scheduler: a variable of another one that makes no sense is nothing to it. */
export interface Job {
  readonly name: JobName
  isOn(view: View, env: Env): boolean
  /** Milliseconds from the beginning of one tick to the beginning of the next. */
  everyMs(view: View, env: Env): number
  run(ctx: ShotsContext): Promise<JobReceipt>
}

const minuteMs = 60_000

/** The three jobs, in the order in which they come due together. */
export const schedulerJobs: readonly Job[] = [
  {
    name: 'screenshot_folder_ingest',
    isOn: (...at) => ingestSettings(...at).ingestEnabled.value,
    everyMs: (...at) => ingestSettings(...at).ingestIntervalMinutes.value * minuteMs,
    run: (ctx) => withCaptures(ctx, () => scanFolder(ctx)),
  },
  {
    name: 'screenshot_folder_analysis',
    isOn: () => true,
    everyMs: (...at) => analysisSettings(...at).analysisIntervalSeconds.value * 1000,
    run: async (ctx) => {
      const { analyzeBatch } = await import('./analysis/batch.js')
      return analyzeBatch(ctx, { scheduled: true })
    },
  },
  {
    name: 'screenshot_observation_digest',
    isOn: (...at) => digestSettings(...at).digestEnabled.value,
    everyMs: (...at) => digestSettings(...at).digestIntervalMinutes.value * minuteMs,
    run: async (ctx) => {
      const { digestTick } = await import('./digest/tick.js')
      return digestTick(ctx)
    },
  },
]

/** One turn of one job. */
export interface JobTurn {
  readonly job: JobName
  readonly at: string
  readonly outcome: TurnOutcome
  readonly receipt: JobReceipt | null
  readonly error: SallyportError | null
}

const holdJob = (ctx: ShotsContext, name: JobName) =>
  ctx.gov.store.holds.tryTurn(name)

/** What stops a scheduler rather than one turn: nothing later could go better. */
const isFinal = (ctx: ShotsContext, error: unknown): boolean =>
  !(error instanceof SallyportError) || error.kind === 'damaged'
  || ctx.gov.store.health().poisoned

/**
 * Takes one turn of a job; what keeps it from being taken is told as its failure. Throws only what
 * ends the scheduler: a damaged state, a defect.
 */
const takeTurn = async (ctx: ShotsContext, job: Job): Promise<JobTurn> => {
  const at = isoFromMs(ctx.gov.clock.wallMs())
  const turn = (outcome: TurnOutcome, rest: Partial<JobTurn> = {}): JobTurn =>
    ({ job: job.name, at, outcome, receipt: null, error: null, ...rest })
  let held: Awaited<ReturnType<typeof holdJob>> = null
  try {
    if (!job.isOn(ctx.gov.store.read(), ctx.env)) return turn('disabled')
    if (ctx.signal.aborted) {
      throw fail.cancelled('shots_run_stopped', 'You stopped it before each job had its turn.')
    }
    held = await holdJob(ctx, job.name)
    if (held === null) return turn('busy')
    const receipt = await job.run(ctx)
    if (ctx.gov.store.health().poisoned) {
      throw fail.failed('store_poisoned', 'A write failed; this process writes no more.', {
        next: 'Look at the disk of the state directory, then start it again.',
      })
    }
    return turn(receipt.status === 'degraded' ? 'degraded' : 'done', { receipt })
  } catch (error) {
    if (isFinal(ctx, error)) throw error
    return turn('failed', { error: error as SallyportError })
  } finally {
    held?.release()
  }
}

/**
 * One turn of each job, one after another; each is told as it ends. What a stop leaves has a turn
 * that failed in the answer alone.
 */
export const runOnce = async (
  ctx: ShotsContext, onTurn: (turn: JobTurn) => void, jobs: readonly Job[] = schedulerJobs,
): Promise<readonly JobTurn[]> => {
  const turns: JobTurn[] = []
  for (const job of jobs) {
    const isLeft = ctx.signal.aborted
    const turn = await takeTurn(ctx, job)
    if (!isLeft) onTurn(turn)
    turns.push(turn)
  }
  return turns
}

/** Longest sleep, so that changed settings count before long. */
const napMsMax = 60_000

interface Planned {
  readonly job: Job
  /** Monotonic; the first turn is due at once. */
  startedMs: number | null
  running: Promise<void> | null
}


/** A scheduler under way. */
class Scheduler {
  readonly #plan: Planned[]
  /** Ends the present nap: a turn ended, or all of it does. */
  #nap = new AbortController()
  #broken: { readonly error: unknown } | null = null

  constructor(
    readonly ctx: ShotsContext, readonly onTurn: (turn: JobTurn) => void, jobs: readonly Job[],
  ) {
    this.#plan = jobs.map((job) => ({ job, startedMs: null, running: null }))
  }

  async run(): Promise<void> {
    const { ctx } = this
    while (!ctx.signal.aborted && this.#broken === null) {
      this.#nap = new AbortController()
      const napMs = this.#startDue()
      const signal = AbortSignal.any([ctx.signal, this.#nap.signal])
      await ctx.gov.clock.sleep(napMs, signal).catch(() => undefined)
    }
    for (const { running } of this.#plan) await running
    if (this.#broken !== null) throw this.#broken.error
  }

  /** Monotonic; a job whose interval has no meaning comes again to tell that it has none. */
  #dueMs({ startedMs, job }: Planned): number {
    if (startedMs === null) return -Infinity
    try {
      return startedMs + job.everyMs(this.ctx.gov.store.read(), this.ctx.env)
    } catch (error) {
      if (isFinal(this.ctx, error)) throw error
      return startedMs + napMsMax
    }
  }

  /** Starts what is due; gives how long nothing else will be. */
  #startDue(): number {
    const nowMs = this.ctx.gov.clock.monotonicMs()
    for (const planned of this.#plan) {
      if (planned.running === null && this.#dueMs(planned) <= nowMs) this.#start(planned)
    }
    const idle = this.#plan.filter(({ running }) => running === null)
    const waits = [...idle, ...this.#plan.filter((one) => this.#dueMs(one) > nowMs)]
      .map((planned) => this.#dueMs(planned) - nowMs)
    return Math.max(1, Math.min(napMsMax, ...waits))
  }

  #start(planned: Planned): void {
    planned.startedMs = this.ctx.gov.clock.monotonicMs()
    planned.running = this.#turn(planned).finally(() => {
      planned.running = null
      this.#nap.abort()
    })
  }

  async #turn({ job }: Planned): Promise<void> {
    try {
      this.onTurn(await takeTurn(this.ctx, job))
    } catch (error) {
      this.#broken ??= { error }
    }
  }
}

/**
 * Runs the jobs on their intervals until the context's signal; gives the turns to `onTurn` as they
 * end. A turn that outlasts its interval delays only its own next one. Throws what ends it all.
 */
export const runJobs = (
  ctx: ShotsContext, onTurn: (turn: JobTurn) => void, jobs: readonly Job[] = schedulerJobs,
): Promise<void> => new Scheduler(ctx, onTurn, jobs).run()

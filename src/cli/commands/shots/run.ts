/** `sallyport shots run`: the scheduler's three jobs, on their intervals or once. */
import * as v from 'valibot'
import { fail, type SallyportError } from '../../../base/errors.js'
import { errorBody, gravest } from '../../../base/outcome.js'
import { jobNames } from '../../../shots/constants.js'
import { turnOutcomes, type JobTurn } from '../../../shots/jobs.js'
import { dueFailure } from '../../../shots/money.js'
import type { VerbDeps } from '../../bound.js'
import { Degraded } from '../../../base/contract.js'
import { writeJsonLine } from '../../output.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { withJobs } from './open.js'

/** Flags of `shots run`. */
export interface RunOptions {
  readonly once?: boolean
}

const turnShape = v.strictObject({
  job: v.picklist(jobNames),
  at: v.string(),
  outcome: v.picklist(turnOutcomes),
  /** The job's own receipt, as its own verb prints it. */
  receipt: v.nullable(v.record(v.string(), v.unknown())),
  error: v.nullable(v.strictObject({
    code: v.string(), message: v.string(), reason: v.nullable(v.string()), status: v.number(),
    details: v.record(v.string(), v.unknown()),
  })),
})
const stoppedShape = v.strictObject({ event: v.literal('stopped') })
const lineShape = v.union([turnShape, stoppedShape])
/** One line of `shots run`: a turn of a job, or the end. */
export type RunLine = v.InferOutput<typeof lineShape>
type Turn = v.InferOutput<typeof turnShape>

const lineOf = ({ receipt, error, ...turn }: JobTurn): Turn => {
  const body = error === null ? null : errorBody(error).error
  return {
    ...turn,
    receipt: receipt === null ? null : { ...receipt },
    error: body === null ? null : { ...body, details: { ...body.details } },
  }
}

const definition: VerbDefinition<RunLine> = {
  meta: {
    name: 'shots run',
    summary: 'run the jobs: take in, analyse, digest',
    description:
      'Runs screenshot_folder_ingest, screenshot_folder_analysis and '
      + 'screenshot_observation_digest on the intervals of the settings, and prints one line for '
      + 'each turn with its receipt. A job that fails comes again; the others go on. A job that '
      + 'another process is running is left alone. It stays in the foreground until Ctrl-C or '
      + 'SIGTERM and then ends with status 0. With --once each job has one turn, one after '
      + 'another, and the exit status tells the gravest failure: for cron.',
    examples: ['$ sallyport shots run', '$ sallyport shots run --once --json'],
    session: 'none',
    exits: ['rejected', 'blocked', 'budget', 'remote', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema: lineShape, lines: true },
  },
  flags: (command) => command.option('--once', 'one turn of each job, then end'),
  text: (line) => ('event' in line ? 'stopped\n' : `${textOf(line)}\n`),
}

const numbers = (receipt: Readonly<Record<string, unknown>>): string =>
  Object.entries(receipt)
    .filter(([name, value]) => typeof value === 'number' && !/^(number|duration_ms)$/.test(name))
    .map(([name, value]) => `${name} ${String(value)}`).join(', ')

const textOf = ({ job, at, outcome, receipt, error }: Turn): string => {
  const reason = typeof receipt?.['reason'] === 'string' ? receipt['reason'] : null
  const what = error?.message ?? (receipt === null ? '' : numbers(receipt))
  const head = `${at} ${job}: ${outcome}${reason === null ? '' : ` (${reason})`}`
  return what === '' ? head : `${head}: ${what}`
}

const say = (deps: VerbDeps, turn: JobTurn): void => {
  deps.progress.clear()
  const line = lineOf(turn)
  if (deps.globals.json) writeJsonLine(deps, line)
  else deps.io.writeOut(`${deps.view.foreign(textOf(line))}\n`)
}

const failureOf = (turn: JobTurn): SallyportError[] => {
  if (turn.error !== null) return [turn.error]
  const due = dueFailure('job', [...turn.receipt?.items ?? [], ...turn.receipt?.windows ?? []])
  if (due !== null) return [due]
  if (turn.outcome !== 'degraded') return []
  const reason = turn.receipt?.reason ?? 'unknown'
  const local = turn.job === 'screenshot_folder_ingest' || reason === 'lock_held'
  return [(local ? fail.locked : fail.failed)(
    'job_degraded', 'A job left a part of its work for a later pass.',
    { reason, next: 'See: sallyport shots status', details: { job: turn.job } },
  )]
}

/** Runs the jobs. */
export const run: Run<RunOptions, RunLine> = async ({ once }, deps) => {
  const { runJobs, runOnce } = await import('../../../shots/jobs.js')
  return withJobs(deps, async (ctx) => {
    const stopped: RunLine = { event: 'stopped' }
    if (once !== true) {
      await runJobs(ctx, (turn) => say(deps, turn))
      return stopped
    }
    const turns = await runOnce(ctx, (turn) => say(deps, turn))
    const worst = gravest(turns.flatMap(failureOf))
    if (worst !== null) throw new Degraded(stopped, worst)
    return stopped
  }, 'job')
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<RunOptions, RunLine> = run): Verb =>
  defineVerb(deps, definition, doIt)

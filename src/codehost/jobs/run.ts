/** Running jobs: one that was approved, one that goes on, or all that wait for a scheduled run. */
import { fail, SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { afterRead } from '../after-read.js'
import type { CodehostContext } from '../context.js'
import { auditFenced, fenced, requireUnclosed } from './closed/fence.js'
import { requirePrerequisites, writeDenials } from './boundary.js'
import { getJob, isGivenUpPartly, isUnread, requireOriginalRoot, requireOwnJob } from './change.js'
import { requireHourly } from './earlier-posts.js'
import { openWork } from './open-work.js'
import { requireOutlives } from './outlive.js'
import { askedOf, type Ran, type RunnableJob } from './claim.js'
import { runOrderOf } from './run-order.js'
import { jobCollection, jobsByOwnState, type Job } from './job-rows.js'
import { nextEffect } from './sendable.js'
import { approvedJob } from './standing.js'
import { canRunHere, requireRunHere } from './publication/stage-machine.js'
import { onItsWay, nextStepNow, type JobOnItsWay } from './next-step-now.js'

/** `run` begins what waits for it; `resume` goes on with what was not sent. */
export type RunVerb = 'run' | 'resume'

interface HowToRun {
  readonly verb?: RunVerb
  readonly path?: RunnableJob['path']
}

const states: Readonly<Record<RunVerb, readonly Job['state'][]>> = {
  run: ['prepared', 'approved'], resume: ['blocked'],
}

const requireState = (gov: Gov, view: View, job: Job, verb: RunVerb): void => {
  if (states[verb].includes(job.state) && !isGivenUpPartly(job) && !isUnread(job)) return
  const { text, command } = nextStepNow(gov, view, job)
  throw fail.conflict('job_state', `This job is ${job.state}: ${text}`, {
    next: `Run \`${command ?? `sallyport codehost jobs ${job.job_id}`}\`.`,
    details: { job_id: job.job_id, state: job.state },
  })
}

/** Everything that can be told without contacting anybody: refused here, no byte leaves. */
const runnableOf = (
  ctx: CodehostContext, session: Session, jobId: string, verb: RunVerb,
  path: RunnableJob['path'],
): RunnableJob => {
  const view = ctx.gov.store.read()
  const job = requireOwnJob(view, session, jobId)
  requireUnclosed(view, job, verb === 'run' ? 'execute' : 'approved_resume')
  requireState(ctx.gov, view, job, verb)
  requireOriginalRoot(job, session)
  requireRunHere(ctx.gov.store, view, job)
  const asked = askedOf(ctx)
  requirePrerequisites(path, asked, view, approvedJob(view, nowIso(ctx.gov), job).job)
  requireOutlives(ctx.gov, view, job)
  requireHourly(ctx.gov, view, job)
  return { session, job, path }
}

const runOpened = async (ctx: CodehostContext, runnable: RunnableJob): Promise<Ran> => {
  const { job } = runnable
  const view = ctx.gov.store.read()
  nextEffect(view, job)
  const work = openWork(ctx.gov, view, job)
  try {
    const toRun = work.toRun()
    const ahead = await toRun.look(ctx, runnable)
    const ran = await runOrder(ctx, runOrderOf(ctx, { ...runnable, work, toRun, ahead }))
    work.ended(ran.job)
    return ran
  } finally {
    work.close()
  }
}

const detailsOf = ({ job_id, task_id, state }: Job) => ({ job_id, task_id, state })

/** What the host was asked before counts as a request, whatever kept the creation back. */
const toldAfterRead = (error: SallyportError): SallyportError => {
  const told = afterRead(error)
  return told instanceof SallyportError ? told : error
}

/** Why a job did not come to its end, told as an error; null where it did. */
export const runFailure = (gov: Gov, { job, unsent }: Ran): SallyportError | null => {
  if (job.state === 'succeeded') return null
  const { text, command } = nextStepNow(gov, gov.store.read(), job)
  const rest = {
    reason: job.reason ?? job.state, details: detailsOf(job),
    next: `Run \`${command ?? `sallyport codehost jobs ${job.job_id}`}\`.`,
  }
  if (unsent !== null) {
    return toldAfterRead(new SallyportError({
      kind: unsent.errorKind, code: 'codehost_not_sent', message: `Nothing was created. ${text}`,
      ...rest, cause: unsent.cause,
    }))
  }
  if (job.state === 'failed') {
    return fail.remote('effect_refused', text, rest)
  }
  const code = job.state === 'blocked' ? 'codehost_incomplete' : 'unknown_external_effect'
  return fail.blocked(code, text, rest)
}

/** A job whose end could not be written down may have been sent. */
const unwritten = (error: unknown, jobId: string): unknown => {
  if (!(error instanceof SallyportError)) return error
  if (!('operation_id' in error.details)) return afterRead(error)
  const next = 'What is not known stays so until it is read back. See '
    + `\`sallyport codehost jobs ${jobId}\`.`
  return new SallyportError({
    kind: error.kind, code: error.code, message: error.message, next, cause: error,
    ...(error.reason === null ? {} : { reason: error.reason }),
    details: { ...error.details, job_id: jobId },
  })
}

/**
 * Runs a job, or goes on with one of which nothing was sent. Answers however it ended; throws what
 * kept it from being begun. What is thrown after a read has a status that says so.
 */
export const runJob = (
  ctx: CodehostContext, session: Session, jobId: string, how: HowToRun = {},
): Promise<Ran> => fenced(ctx.gov, session, async () => {
  const ran = await runUnfenced(ctx, session, jobId, how)
  await auditFenced(ctx.gov, session, ran.unsent?.cause)
  return ran
})

const runUnfenced = async (
  ctx: CodehostContext, session: Session, jobId: string,
  { verb = 'run', path = 'dispatcher' }: HowToRun,
): Promise<Ran> => {
  const runnable = runnableOf(ctx, session, jobId, verb, path)
  try {
    return await runOpened(ctx, runnable)
  } catch (error) {
    throw unwritten(error, jobId)
  }
}

/** One job of a run as it is now, and how it went. */
export interface RoutineResult extends JobOnItsWay {
  readonly jobId: string
  /** Null where it came to its end. */
  readonly failure: SallyportError | null
}

/** Runs one job, named by a person. Throws what it failed with. */
export const runAlone = async (
  ctx: CodehostContext, session: Session, jobId: string,
): Promise<readonly RoutineResult[]> => {
  const { gov } = ctx
  const ran = await runJob(ctx, session, jobId)
  const failure = runFailure(gov, ran)
  if (failure !== null) throw failure
  return [{ jobId, ...onItsWay(gov, gov.store.read(), ran.job), failure: null }]
}

/**
 * Jobs that a scheduled run picks: approved, or covered by a standing authority, oldest first. What
 * another machine alone can run waits for that one.
 */
const routineJobs = (
  ctx: CodehostContext, view: View, { principal, root }: Session,
): readonly Job[] => {
  const asked = askedOf(ctx)
  return (['approved', 'prepared'] as const)
    .flatMap((state) => rowsUnder(view, jobCollection, jobsByOwnState, {
      under: [principal.principal_id, state],
    }))
    .map(({ doc }) => doc)
    .filter((job) => job.root === root.root_id && canRunHere(ctx.gov.store, view, job)
      && writeDenials(asked, view, approvedJob(view, nowIso(ctx.gov), job).job, 'preflight')
        .length === 0)
    .sort((a, b) => (a.job_id < b.job_id ? -1 : 1))
}

const orFailure = async (gov: Gov, work: () => Promise<Ran>): Promise<SallyportError | null> => {
  try {
    return runFailure(gov, await work())
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

const isApproved = ({ gov }: CodehostContext, jobId: string): boolean => {
  const view = gov.store.read()
  return approvedJob(view, nowIso(gov), getJob(view, jobId)).job.approval !== null
}

const stopped = (): SallyportError =>
  fail.cancelled('codehost_run_stopped', 'You stopped the run before this job was begun.')

/** Runs every job that waits, one after the other; a stop ends it between two, and it is told. */
export const runApproved = async (
  ctx: CodehostContext, session: Session,
): Promise<readonly RoutineResult[]> => {
  const results: RoutineResult[] = []
  for (const { job_id: jobId } of routineJobs(ctx, ctx.gov.store.read(), session)) {
    // The job before it may have used up the authority that stood for its approval.
    if (!isApproved(ctx, jobId)) continue
    const failure = ctx.signal.aborted ? stopped()
      : await orFailure(ctx.gov, () => runJob(ctx, session, jobId, { path: 'routine' }))
    const view = ctx.gov.store.read()
    results.push({
      jobId, failure, ...onItsWay(ctx.gov, view, requireOwnJob(view, session, jobId)),
    })
  }
  return results
}

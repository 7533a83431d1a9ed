/** What goes in and comes out of the operations on jobs. */
import * as v from 'valibot'
import { nullableCommand, sentence } from '../../base/told.js'
import { contract } from '../../base/contract.js'
import { needsPerson } from '../../base/next-step.js'
import { closedObject, strictInteger, nullableText, text } from '../../base/schema.js'
import { fail, SallyportError } from '../../base/errors.js'
import { gravest, partialOf, requestsSent } from '../../base/outcome.js'
import { behindRow } from '../../base/page.js'
import type { Recorded } from '../../governance/stops/act.js'
import { requestsOf, requestsShape } from '../../governance/stops/requests.js'
import { codehostActions, codehostLimits } from '../constants.js'
import { nativeKinds } from './kinds.js'
import type { ClosureView } from './closed/closed-job-rows.js'
import type { JobHistory } from './list.js'
import { jobStates, type Job, type Standing } from './job-rows.js'
import type { RoutineResult } from './run.js'
import type { JobOnItsWay } from './next-step-now.js'
import { nextStep, type NextStep } from './next-step.js'

const number = v.number()
const revision = strictInteger(1, Number.MAX_SAFE_INTEGER)

/** Shape of a job, for documents that hold a part of it. */
export const jobShape = v.strictObject({
  id: text,
  kind: v.picklist(nativeKinds),
  /** The public capability that the kind is. */
  capability: text,
  state: v.picklist(jobStates),
  reason: nullableText,
  /** Counts every change of the job, from 1. */
  revision: number,
  connection: text,
  repository: text,
  repository_id: number,
  goal: text,
  goal_revision: number,
  /** The session that prepared it; no other runs or reconciles it. */
  root: text,
  consent: v.strictObject({ id: text, revision: number, expires_at: text }),
  actions: v.array(v.picklist(codehostActions)),
  approval: v.nullable(v.strictObject({
    kind: v.picklist(['exact', 'standing']), standing: nullableText, root: text,
    consent: text, consent_revision: number, at: text,
  })),
  /** What an approval names. */
  preview_digest: text,
  /** POSTs: planned, of which some may have happened, and which the host answered as made. */
  effects: v.strictObject({ planned: number, contacted: number, created: number }),
  /** Number of the issue, id of the comment; null where nobody knows it. */
  remote_id: v.nullable(number),
  /** When the host lets its token come back; null where it named no limit, or no time. */
  retry_at: nullableText,
  /** Whether it occupies its connection, and the fence under which it last did. */
  reserved: v.boolean(),
  fence: v.nullable(number),
  task: nullableText,
  attempt: number,
  /** The receipt of the readback that proved it. */
  receipt: nullableText,
  way_on: v.strictObject({
    text: sentence, command: nullableCommand, for_good: v.boolean(),
    /**
     * Whether the command takes the job on with nobody there. Where it is false a person decides,
     * or the command only shows: a script that follows commands has come to its end.
     */
    unattended: v.boolean(),
  }),
  created_at: text,
  updated_at: text,
  /** After it was given up: what had left before of it. */
  requests: v.optional(requestsShape),
})
/** A job as a document: content-safe. */
export type JobDocument = v.InferOutput<typeof jobShape>

const goesOn = /^sallyport (codehost (?:run|recover reconcile) .*)$/

const isUnattended = (command: string | null): boolean => {
  const line = goesOn.exec(command ?? '')?.[1]
  return line !== undefined && !needsPerson(line)
}

const nextStepDocument = ({ text: told, command, forGood }: NextStep): JobDocument['way_on'] =>
  ({ text: told, command, for_good: forGood, unattended: isUnattended(command) })

export const consentDocument = ({ consent }: Job): JobDocument['consent'] =>
  ({ id: consent.consent_id, revision: consent.revision, expires_at: consent.expires_at })

/** The document of a job; its way on by its row alone unless another is told. */
export const jobDocument = (job: Job, way = nextStep(job)): JobDocument => ({
  id: job.job_id, kind: job.native_kind, capability: job.capability, state: job.state,
  reason: job.reason, revision: job.revision, connection: job.connection_id,
  repository: job.repository, repository_id: job.repository_id, goal: job.goal_id,
  goal_revision: job.goal_revision, root: job.root,
  consent: consentDocument(job),
  actions: [...job.actions],
  approval: job.approval === null ? null : {
    kind: job.approval.kind, standing: job.approval.standing_id, root: job.approval.root,
    consent: job.approval.consent_id, consent_revision: job.approval.consent_revision,
    at: job.approval.at,
  },
  preview_digest: job.preview_sha256,
  effects: { planned: job.plan.effects, contacted: job.contacted, created: job.created },
  remote_id: job.remote?.id ?? null, retry_at: job.retry_at ?? null, reserved: job.reserved,
  fence: job.fence, task: job.task_id, attempt: job.attempt, receipt: job.receipt_id,
  way_on: nextStepDocument(way),
  created_at: job.created_at, updated_at: job.updated_at,
})

const oneJob = {
  document: 'codehost.job', output: jobShape,
  toDocument: (job: Job) => jobDocument(job),
} as const

export const codehostPrepare = contract({
  ...oneJob,
  name: 'codehost.prepare',
  input: closedObject({
    what: v.picklist(['issue', 'comment', 'publication']),
    connection: text,
    title: v.optional(text),
    body: text,
    issue: v.optional(revision),
    mark: v.optional(v.boolean()),
    source: v.optional(text),
    base: v.optional(text),
    branch: v.optional(text),
    author: v.optional(text),
    message: v.optional(text),
    goal: v.optional(text),
    idempotency_key: v.optional(text),
  }),
})

const standingShape = v.strictObject({
  id: text, connection: text, consent: text, actions: v.array(v.picklist(codehostActions)),
  issued_at: text, expires_at: text, jobs_max: number, jobs_used: number,
})
type StandingDocument = v.InferOutput<typeof standingShape>

export const standingDocument = (one: Standing): StandingDocument => ({
  id: one.standing_id, connection: one.connection_id, consent: one.consent_id,
  actions: [...one.actions], issued_at: one.issued_at, expires_at: one.expires_at,
  jobs_max: one.jobs_max, jobs_used: one.jobs.length,
})
/** Shape of a standing authority within other documents. */
export const standingDocumentShape = standingShape

/** What was approved: one job, or a standing authority. */
type ApprovedThing = { readonly job: Job } | { readonly standing: Standing }

const approvedShape = v.strictObject({
  kind: v.picklist(['exact', 'standing']),
  job: v.nullable(jobShape),
  standing: v.nullable(standingShape),
})
export type ApprovedDocument = v.InferOutput<typeof approvedShape>

/** Approving a job by the digest of its preview, or giving a standing authority. */
export const codehostApprove = contract({
  name: 'codehost.approve', output: approvedShape,
  input: closedObject({
    job: v.optional(text),
    preview_digest: v.optional(text),
    standing: v.optional(v.boolean()),
    connection: v.optional(text),
    action: v.optional(v.array(text)),
    until: v.optional(text),
    max_jobs: v.optional(strictInteger(1, codehostLimits.standingJobsMax)),
  }),
  toDocument: (done: ApprovedThing): ApprovedDocument => ('job' in done
    ? { kind: 'exact', job: jobDocument(done.job), standing: null }
    : { kind: 'standing', job: null, standing: standingDocument(done.standing) }),
})

export const codehostResume = contract({
  ...oneJob, name: 'codehost.resume', input: closedObject({ job: text }),
})

const ranShape = v.strictObject({
  jobs: v.array(v.strictObject({
    ...jobShape.entries,
    failure: v.nullable(v.strictObject({ code: text, reason: nullableText, message: sentence })),
  })),
})
/** What a run did: one job, or every job that waited. */
type RanDocument = v.InferOutput<typeof ranShape>

const failedOf = (results: readonly RoutineResult[]): SallyportError | null => {
  const errors = results.flatMap(({ failure }) => failure ?? [])
  const counts = { failed: errors.length, jobs: results.length }
  const failure = partialOf(gravest(errors), {
    done: results.length - errors.length, counts,
    sent: errors.filter(({ kind }) => requestsSent[kind] !== 'none').length,
  })
  if (failure === null) return null
  const rest = { details: counts, next: 'See `sallyport codehost jobs`.' }
  if (failure.kind === 'partial') {
    return fail.partial('jobs_partly_run', 'Some of the jobs did not come to their end.', rest)
  }
  const { kind, code, message, reason } = failure
  const why = reason === null ? {} : { reason }
  return new SallyportError({ kind, code, message, ...why, ...rest })
}

/** Running jobs: the one that is named, or with `approved` all that wait. */
export const codehostRun = contract({
  name: 'codehost.run', output: ranShape,
  input: closedObject({ job: v.optional(text), approved: v.optional(v.boolean()) }),
  toDocument: (results: readonly RoutineResult[]): RanDocument => ({
    jobs: results.map(({ job, way, failure }) => ({
      ...jobDocument(job, way),
      failure: failure === null ? null : {
        code: failure.code, reason: failure.reason, message: failure.message,
      },
    })),
  }),
  failure: failedOf,
})

const yes = v.literal(true)

const listedShape = v.strictObject({
  ...jobShape.entries,
  /** What closed its capacity; null where nothing did. The job and its task are as they were. */
  closure: v.nullable(v.strictObject({
    id: text, closed_at: text, job: text, connection: text, observed_effects: number,
    job_state: text, task_state: nullableText, capacity_closed: yes,
    job_and_task_unresolved: yes, no_learning: yes, history_unchanged: yes,
  })),
  /** Whether closing may be asked for, and why not; it acknowledges nothing. */
  closable: v.strictObject({
    now: v.boolean(), reason: nullableText, acknowledged: v.literal(false),
  }),
})
/** A job as lists and single views show it. */
type ListedJobDocument = v.InferOutput<typeof listedShape>

const closureOf = ({ closure }: ClosureView): ListedJobDocument['closure'] => {
  if (closure === null) return null
  const { receipt } = closure
  return {
    id: receipt.closure_id, closed_at: receipt.closed_at, job: receipt.job.id,
    connection: receipt.connection.id, observed_effects: receipt.effects.observed,
    job_state: receipt.job.state, task_state: receipt.task?.state ?? null, capacity_closed: true,
    job_and_task_unresolved: true, no_learning: true, history_unchanged: true,
  }
}

const listedDocument = (shown: JobOnItsWay & ClosureView): ListedJobDocument => ({
  ...jobDocument(shown.job, shown.way), closure: closureOf(shown),
  closable: { now: shown.notClosable === null, reason: shown.notClosable, acknowledged: false },
})

/** The operator's jobs, newest first. */
export const codehostJobs = contract({
  name: 'codehost.jobs',
  input: closedObject({
    connection: v.optional(text),
    state: v.optional(v.picklist(jobStates)),
    after: behindRow('job'),
    limit: v.optional(strictInteger(1, 1_000)),
  }),
  output: v.array(listedShape),
  toDocument: (jobs: readonly (JobOnItsWay & ClosureView)[]) => jobs.map(listedDocument),
})

/** Names of the histories of a job. */
export const historyNames = ['effects', 'artifacts', 'checkpoints', 'reads'] as const

const shownShape = v.strictObject({
  ...listedShape.entries,
  /** The history that was asked for, as the canonical lines that its limits count. */
  history: v.nullable(v.strictObject({
    name: v.picklist(historyNames), entries: number, bytes: number, entries_max: number,
    bytes_max: number, digest: text, lines: v.array(text),
  })),
  /** The sealed readback that was asked for, as canonical JSON. */
  readback: nullableText,
})
export type ShownJobDocument = v.InferOutput<typeof shownShape>

export const codehostJob = contract({
  name: 'codehost.job.show', output: shownShape,
  input: closedObject({
    job: text, history: v.optional(v.picklist(historyNames)), readback: v.optional(text),
  }),
  toDocument: ({ history, readback, ...shown }: JobOnItsWay & ClosureView & {
    readonly history: JobHistory | null
    readonly readback: string | null
  }): ShownJobDocument => ({
    ...listedDocument(shown),
    history: history === null ? null : { ...history, lines: [...history.lines] },
    readback,
  }),
})

export const codehostCancel = contract({
  ...oneJob, name: 'codehost.cancel', input: closedObject({ job: text }),
  toDocument: ({ job, recorded }: { readonly job: Job; readonly recorded: Recorded | null }) =>
    ({ ...jobDocument(job), requests: requestsOf(recorded) }),
})

/** Reading back what a job may have done. */
export const codehostReconcile = contract({
  ...oneJob, name: 'codehost.reconcile',
  input: closedObject({ job: text, expected_read_revision: revision }),
})

/** The board takes a proved success over. */
export const codehostAdopt = contract({
  ...oneJob, name: 'codehost.adopt', input: closedObject({ job: text }),
})

/**
 * Admission to the board: one transaction makes the task, its job, its place and its key, or
 * nothing. Owner, root, goal revision and provenance come from the authenticated session, never
 * from a caller's fields.
 */
import { validate as isUuid } from 'uuid'
import { msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { defaultGoal, requireOpenGoal } from '../goals.js'
import { collections, type Goal, type Job, type Provenance, type Task } from '../rows.js'
import { requireRootRow } from '../session/live.js'
import { noteNamed } from '../session/named.js'
import type { Session } from '../context.js'
import { isLostKey } from './lost-keys.js'
import { findTask, putTask, takePlace } from './place.js'
import { getJob, getTask } from './visible-tasks.js'

/** One order to be admitted; ids are the caller's, made before and durable with the task. */
export interface Admission {
  /** Native kind, for example `inference.alpha-text.v1`. */
  readonly kind: string
  readonly session: Session
  /** What the owner's one place is for besides the kind; left out: the kind has one place. */
  readonly place?: string | undefined
  /** True for work that waits for a person to start it: no place is taken, see `moveTask`. */
  readonly prepared?: boolean
  /** Left out: the owner's default goal. */
  readonly goalId?: string | undefined
  /** Registered in this or an earlier transaction, the owner's, and bound to no other task. */
  readonly inputArtifactId: string
  /** Hyphenated UUID in any letter case, global to the store. */
  readonly idempotencyKey: string
  /** SHA-256 of the canonical request; decides between replay and conflict. */
  readonly requestDigest: string
  readonly taskId: string
  readonly jobId: string
  readonly operationId: string
  readonly requestId: string
  readonly attemptId: string
  readonly purpose: Task['purpose']
  /** ISO: wall deadline of the whole operation. */
  readonly deadlineAt: string
  readonly budgetMs: number
  readonly provenance: Provenance
}

/** What admission gives; `replayed` means that this key had made this very task before. */
export interface Admitted {
  readonly task: Task
  readonly job: Job
  readonly replayed: boolean
}

/** The key in its one form. Throws `rejected`/`idempotency_key` unless it is a UUID. */
const requireIdempotencyKey = (key: string): string => {
  if (isUuid(key)) return key.toLowerCase()
  throw fail.rejected('idempotency_key', 'An idempotency key is a UUID, written 8-4-4-4-12.', {
    next: 'On a line, --idempotency-text takes a text of your own.',
  })
}

/**
 * The task that this key and content have made before, for the same owner; null when the key is
 * new. Throws `conflict`/`idempotency_conflict`, `not_found`/`result_pruned` where a person has had
 * that very task removed, `rejected`/`idempotency_key`.
 */
export const findIdempotent = (
  view: View,
  session: Session,
  request: { readonly kind: string; readonly key: string; readonly requestDigest: string },
): Task | null => {
  const key = requireIdempotencyKey(request.key)
  const known = view.get(collections.idempotency, key)
  if (known === undefined && isLostKey(view, key)) throw keySpent()
  if (known === undefined) return null
  const task = findTask(view, known.task_id)
  if (task === undefined && known.pruned === undefined && known.restored === true) throw keySpent()
  const owner = task?.owner ?? known.pruned?.owner ?? getTask(view, known.task_id).owner
  const same =
    known.kind === request.kind &&
    known.request_digest === request.requestDigest &&
    owner === session.principal.principal_id
  if (same && task !== undefined) return task
  if (same) throw resultPruned()
  // Says nothing of the task that the key made: it may be another owner's.
  throw fail.conflict('idempotency_conflict', 'This key has been used for another request.', {
    next: 'Leave the key out, or give a new UUID.',
  })
}

const resultPruned = () =>
  fail.notFound(
    'result_pruned', 'This request was made before; its result has been pruned since.',
    { next: 'It is never sent again under this key. Leave the key out to ask anew.' },
  )

const keySpent = () =>
  fail.conflict(
    'idempotency_key_spent',
    'This key may have been used in a state that was replaced; what it made is not known here.',
    {
      next: 'It may have been sent. First look for it there, and for its cost in '
        + '`sallyport ledger reservations`. Leave the key out to ask anew; '
        + '`sallyport state keys` lists such ranges of keys, and releases one.',
    },
  )

const requireDerived = (admission: Admission, session: Session, now: string): void => {
  const { provenance, purpose } = admission
  const root = session.root.root_id
  if (provenance.principal !== session.principal.principal_id || provenance.root !== root) {
    throw fail.rejected('provenance_mismatch', 'The provenance is not that of the session.')
  }
  if (purpose.root !== root) {
    throw fail.rejected('purpose_mismatch', 'The purpose authority is not that of the session.')
  }
  if (!(msFromIso(purpose.expires_at) > msFromIso(now))) {
    throw fail.unauthorized('purpose_expired', 'The purpose authority of this request has expired.')
  }
  if (!(msFromIso(admission.deadlineAt) > msFromIso(now)) || admission.budgetMs <= 0) {
    throw fail.rejected('deadline_passed', 'The deadline of this request has passed.')
  }
}

const bindInput = (tx: Tx, admission: Admission, owner: string): void => {
  const row = tx.get(collections.artifacts, admission.inputArtifactId)
  if (row === undefined || row.owner !== owner) {
    throw fail.notFound('artifact_not_found', 'There is no such input artifact.')
  }
  if (row.task_id === admission.taskId) return
  if (row.task_id !== null) {
    throw fail.conflict('input_artifact_taken', 'This input artifact belongs to another task.')
  }
  tx.put(collections.artifacts, row.artifact_id, { ...row, task_id: admission.taskId })
}

const taskOf = (admission: Admission, key: string, goal: Goal, now: string): Task => ({
  task_id: admission.taskId,
  // The first writing makes it 1.
  revision: 0,
  kind: admission.kind,
  owner: goal.owner,
  place: admission.place ?? null,
  goal_id: goal.goal_id,
  goal_revision: goal.revision,
  original_root: admission.session.root.root_id,
  current_root: admission.session.root.root_id,
  input_artifact_id: admission.inputArtifactId,
  idempotency_key: key,
  request_digest: admission.requestDigest,
  job_id: admission.jobId,
  operation_id: admission.operationId,
  state: admission.prepared === true ? 'prepared' : 'accepted',
  blocked: null,
  reason: null,
  cancel_requested_at: null,
  attempt: 1,
  lease: null,
  lease_fence: 0,
  provenance: { ...admission.provenance },
  purpose: { ...admission.purpose },
  deadline_at: admission.deadlineAt,
  budget_left_ms: admission.budgetMs,
  review: 'none',
  done_at: null,
  result_artifact_id: null,
  recovered: [],
  created_at: now,
  updated_at: now,
})

const jobOf = (admission: Admission, now: string): Job => ({
  job_id: admission.jobId,
  task_id: admission.taskId,
  attempt: 1,
  attempt_id: admission.attemptId,
  request_id: admission.requestId,
  operation_id: admission.operationId,
  receipt: null,
  progress: {},
  created_at: now,
  updated_at: now,
})

const placeForm = /^[A-Za-z0-9._-]{1,100}$/

/**
 * Admits an order as a task in state `accepted`, or `prepared` where a person is to start it, with
 * attempt 1 of one job. The same key and digest of the same owner returns the first task and job
 * (`replayed`), whatever became of it. Throws `unauthorized` when the session has ended
 * meanwhile; `conflict`: `idempotency_conflict`, `operation_outstanding`, `goal_closed`,
 * `input_artifact_taken`; `not_found` for goal and artifact; `rejected` for key, provenance and
 * deadline.
 */
export const admitTask = (tx: Tx, now: string, admission: Admission): Admitted => {
  const key = requireIdempotencyKey(admission.idempotencyKey)
  const session = requireRootRow(tx, now, admission.session.root.root_id)
  const owner = session.principal.principal_id
  const earlier = findIdempotent(tx, session, { ...admission, key })
  if (earlier !== null) return { task: earlier, job: getJob(tx, earlier), replayed: true }
  requireDerived(admission, session, now)
  const { goalId, kind, place = null, taskId: task_id } = admission
  if (place !== null && !placeForm.test(place)) throw new TypeError('not the name of a place')
  const goal = goalId === undefined ? defaultGoal(tx, owner) : requireOpenGoal(tx, owner, goalId)
  if (findTask(tx, admission.taskId) ?? tx.get(collections.jobs, admission.jobId)) {
    throw fail.conflict('task_exists', 'A task or job of this id exists already.')
  }
  bindInput(tx, admission, owner)
  const task = putTask(tx, taskOf(admission, key, goal, now))
  noteNamed(tx, task.original_root)
  const job = jobOf(admission, now)
  tx.put(collections.jobs, job.job_id, job)
  if (task.state !== 'prepared') takePlace(tx, task)
  const digest = admission.requestDigest
  tx.put(collections.idempotency, key, { key, kind, task_id, request_digest: digest })
  const by = { principal: owner, root: session.root.root_id }
  const facts = { kind, goal: goal.goal_id, goal_revision: goal.revision }
  appendAudit(tx, now, { what: 'task.admitted', ...by, subject: task_id, facts })
  return { task, job, replayed: false }
}

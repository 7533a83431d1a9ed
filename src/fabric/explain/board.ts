/** Ids of the work board: tasks with the ids of their rows, goals and what is kept of a task. */
import { msOfUuid7 } from '../../base/ids.js'
import { isoFromMs } from '../../base/clock.js'
import { findTask } from '../../governance/board/place.js'
import { canTakeOver } from '../../governance/board/recover.js'
import { costLiability, isOutstanding } from '../../governance/board/states.js'
import { taskAccess } from '../../governance/board/visible-tasks.js'
import { ownerOfKind, type Registry } from '../../governance/capability.js'
import {
  eventsOf, idsOf, isOwn, type Explained, type ExplainedKind, type ExplainedKinds,
  type ExplainSite,
} from '../../governance/explained.js'
import { findReservation } from '../../governance/ledger/find-reservation.js'
import { collections, tasksByOwner, type Job, type Task } from '../../governance/rows.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'

const blockedText = ({ blocked }: Task): string => {
  if (blocked?.kind === costLiability) {
    return 'It is blocked: what it cost is not known, and its full bound stays held.'
  }
  if (blocked?.kind === 'answer_held') {
    return 'It is blocked: its result is paid for and waits, because a save was under way.'
  }
  if (blocked?.kind === 'cost_overrun') return 'It is blocked: it cost more than its bound.'
  return `It is blocked (${blocked?.kind ?? 'unknown'}: ${blocked?.reason ?? 'unknown'}).`
}

const textOf = (task: Task): string => {
  const why = task.reason === null ? '' : ` (${task.reason})`
  switch (task.state) {
    case 'prepared': return 'It is prepared and waits to be started.'
    case 'accepted': case 'queued': return 'It waits for its turn.'
    case 'running': return 'It is under way.'
    case 'blocked': return blockedText(task)
    case 'failed': return `It failed${why}.`
    case 'cancelled': return `It was cancelled${why}.`
    case 'succeeded': return task.review === 'pending'
      ? 'It succeeded, and its result waits for your review.' : 'It succeeded.'
  }
}

/** What goes on with a task, by the state that it is in. */
const stepsOf = (view: View, { task_id: id, operation_id: op, state, blocked }: Task) => {
  if (isOutstanding(state)) return [`task cancel ${id}`]
  if (state !== 'blocked') return []
  const money = findReservation(view, op)
  if (money?.state === 'unknown') return [`ledger settle ${op} --amount USD`]
  if (money?.overrun === 'review_required') return [`ledger review ${op}`]
  if (blocked?.kind === 'answer_held') return [`task review ${id} --accept-held`]
  return blocked?.kind === costLiability ? [`task close ${id}`] : []
}

/** What is done with a result; one of another session has to be taken over first. */
const resultSteps = ({ view, session }: ExplainSite, task: Task, registry: Registry) => {
  const { task_id: id } = task
  if (task.state !== 'succeeded') return []
  if (taskAccess(view, session, task) === 'root_replaced') {
    return canTakeOver(view, session, task) ? [`task recover ${id}`] : []
  }
  const read = ownerOfKind(registry, task.kind)?.reads?.(id)
  return [
    ...(read === undefined ? [] : [read]),
    ...(task.review === 'pending'
      ? ['--approve', '--reject'].map((verdict) => `task review ${id} ${verdict}`) : []),
  ]
}

const nextOf = (site: ExplainSite, task: Task, registry: Registry): readonly string[] => [
  ...stepsOf(site.view, task), ...resultSteps(site, task, registry), `task show ${task.task_id}`,
].map((line) => `sallyport ${line}`)

const explainTask = (registry: Registry) => (site: ExplainSite, task: Task): Explained => {
  const { view } = site
  const job = view.get(collections.jobs, task.job_id)
  return {
    state: task.state, text: textOf(task),
    facts: {
      kind: task.kind, revision: task.revision, attempt: task.attempt, review: task.review,
      reason: task.reason ?? task.blocked?.reason ?? null,
    },
    related: idsOf(
      task.goal_id, task.operation_id, task.job_id, job?.attempt_id, job?.request_id,
      task.input_artifact_id, task.result_artifact_id, task.purpose.consent_id,
      task.original_root, task.current_root, task.place),
    events: eventsOf(
      [task.created_at, 'admitted'], [task.cancel_requested_at, 'cancel asked for'],
      ...task.recovered.map(({ at }) => [at, 'taken over'] as const),
      [task.done_at, 'done'], [task.updated_at, `last changed, ${task.state}`]),
    next: nextOf(site, task, registry),
  }
}

/** Ids that are made with a task lie so near to its own, in milliseconds. */
const nearMs = 5_000
/** Tasks of one owner that are looked at for one of these ids, at most. */
const nearMax = 64

/** The id that a task of this moment would have begun with. */
const taskIdAt = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `task_${hex.slice(0, 8)}-${hex.slice(8)}`
}

/** Own tasks that were made when an id was: all of the open ones are looked at besides. */
const tasksNear = ({ view, session }: ExplainSite, id: string): readonly Task[] => {
  const ms = msOfUuid7(id.slice(id.lastIndexOf('_') + 1))
  if (ms === undefined) return []
  const under = [session.principal.principal_id]
  const near = rowsUnder(view, collections.closedTasks, tasksByOwner, {
    under, from: taskIdAt(ms - nearMs), limit: nearMax,
  }).map(({ doc }) => doc).filter(({ created_at: at }) => at <= isoFromMs(ms + nearMs))
  const open = rowsUnder(view, collections.openTasks, tasksByOwner, {
    under, reverse: true, limit: nearMax,
  }).map(({ doc }) => doc)
  return [...open, ...near]
}

/** The task that one of these ids stands in. */
const taskWith = (
  site: ExplainSite, id: string, isIt: (task: Task, job: Job | undefined) => boolean,
): Task | undefined => tasksNear(site, id).find((task) =>
  isIt(task, site.view.get(collections.jobs, task.job_id)))

/** A part of a task: what it is, and where all of it is told. */
const partOf = (task: Task, what: string): Explained => ({
  state: task.state, text: `It is ${what} of a task. ${textOf(task)}`,
  facts: { kind: task.kind, attempt: task.attempt },
  related: idsOf(task.task_id, task.operation_id),
  events: eventsOf([task.created_at, 'admitted'], [task.updated_at, `last changed, ${task.state}`]),
  next: [`sallyport explain ${task.task_id}`, `sallyport task show ${task.task_id}`],
})

/** An operation that has no money: it is known by its task alone. */
export const operationOfTask = (site: ExplainSite, id: string): Explained | undefined => {
  const task = taskWith(site, id, ({ operation_id: op }) => op === id)
  return task === undefined ? undefined : partOf(task, 'the operation')
}

const partKind = (
  kind: string, what: string, isIt: (id: string) => (task: Task, job: Job | undefined) => boolean,
): ExplainedKind => ({
  kind,
  find: (site, id) => {
    const task = taskWith(site, id, isIt(id))
    return task === undefined ? undefined : partOf(task, what)
  },
})

/** `isTold`: whether a capability explains the jobs of its tasks itself, which have these ids. */
const jobKind = (isTold: (task: Task) => boolean): ExplainedKind => ({
  kind: 'job of a task',
  find: (site, id) => {
    const job = site.view.get(collections.jobs, id)
    const task = job === undefined ? undefined : findTask(site.view, job.task_id)
    if (task === undefined || !isOwn(site, task.owner) || isTold(task)) return undefined
    return partOf(task, 'the job')
  },
})

const artifactKind: ExplainedKind = {
  kind: 'sealed artifact',
  find: (site, id) => {
    const row = site.view.get(collections.artifacts, id)
    // What belongs to no task its capability explains.
    const taskId = row?.task_id ?? null
    if (row === undefined || taskId === null || !isOwn(site, row.owner)) return undefined
    return {
      state: row.adopted ? 'adopted' : 'not_adopted',
      text: 'It is sealed content of yours: the verbs of its task alone open it.',
      facts: { label: row.label, bytes: row.ref.bytes, sha256: row.ref.sha256 },
      related: idsOf(taskId), events: eventsOf([row.created_at, 'sealed']),
      next: [`sallyport explain ${taskId}`],
    }
  },
}

const goalKind: ExplainedKind = {
  kind: 'goal', short: async () => (await import('../../governance/own-ids.js')).goalIds,
  find: (site, id) => {
    const goal = site.view.get(collections.goals, id)
    if (goal === undefined || !isOwn(site, goal.owner)) return undefined
    return {
      state: goal.state,
      text: goal.state === 'open' ? 'It is open: tasks can be made for it.' : 'It is closed.',
      facts: { revision: goal.revision, default: goal.is_default }, related: [],
      events: eventsOf([goal.created_at, 'added'], [goal.updated_at, 'last changed']),
      next: [`sallyport goal show ${id}`, `sallyport task list --goal ${id}`],
    }
  },
}

/** Their kinds; of tasks as these capabilities read them. `jobs`: those that explain jobs. */
export const boardKinds = (registry: Registry, jobs: ReadonlySet<string>): ExplainedKinds => ({
  task: {
    kind: 'task', short: async () => (await import('../../governance/own-ids.js')).taskIds,
    find: (site, id) => {
      const task = findTask(site.view, id)
      return task === undefined || !isOwn(site, task.owner)
        ? undefined : explainTask(registry)(site, task)
    },
  },
  job: jobKind(({ kind }) => jobs.has(ownerOfKind(registry, kind)?.name ?? '')),
  att: partKind('attempt', 'an attempt', (id) => (_, job) => job?.attempt_id === id),
  req: partKind('request', 'the request', (id) => (_, job) => job?.request_id === id),
  art: artifactKind,
  goal: goalKind,
})

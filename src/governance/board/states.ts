/**
 * The closed table of task states. Nothing moves a task but `moveTask`, and it moves only along
 * these arrows; a finished task never moves again.
 *
 *   prepared → accepted → queued → running → succeeded
 *   accepted, queued, running → failed, cancelled, blocked
 *   prepared → failed, cancelled
 *   blocked → succeeded, failed        (on cost_liability: failed alone, once it is accounted for)
 *   blocked → queued                   (for its capability alone; on cost_liability: never)
 *
 * Every outstanding task can be blocked, because a liability must be shown wherever it is found.
 * Prepared work waits for a person to start it: it is nobody's process, so recovery has nothing to
 * end, and it has no place of its owner until it is started.
 */
import type { TaskState } from '../rows.js'

const arrows: Readonly<Record<TaskState, readonly TaskState[]>> = {
  prepared: ['accepted', 'failed', 'cancelled'],
  accepted: ['queued', 'blocked', 'failed', 'cancelled'],
  queued: ['running', 'blocked', 'failed', 'cancelled'],
  running: ['succeeded', 'blocked', 'failed', 'cancelled'],
  blocked: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
  cancelled: [],
}

/** What a task is blocked on when its charge is not known: nothing of it is sent again. */
export const costLiability = 'cost_liability'

/** What a task is blocked on while its result is paid for, kept, and waits for a person. */
const heldResults: ReadonlySet<string> = new Set(['cost_overrun', 'answer_held'])

/** What a person does about a task whose result a save made wait; null for any other task. */
export const heldAnswerNext = (
  { task_id: id, blocked }: { readonly task_id: string; readonly blocked: { kind: string } | null },
): string | null => (blocked?.kind === 'answer_held'
  ? `Look at it: \`sallyport task show ${id}\`. Then review it with --accept-held, or --reject.`
  : null)

/** Whether the result of the task is paid for, kept, and waits for a person. */
export const isHeld = ({ blocked }: { readonly blocked: { kind: string } | null }): boolean =>
  blocked !== null && heldResults.has(blocked.kind)

/** Whether nothing of the task is ever sent again: finished, or its result waits for a person. */
export const isSpent = (
  task: { readonly state: TaskState; readonly blocked: { kind: string } | null },
): boolean => !isOpen(task.state) || isHeld(task)

/** Whether the table has this arrow for everybody. */
export const canMove = (from: TaskState, to: TaskState): boolean => arrows[from].includes(to)

/** Whether the table has this arrow for the capability whose work it is. */
export const canGoOn = (from: TaskState, to: TaskState): boolean =>
  from === 'blocked' && to === 'queued'

/** Where a task goes that a charge had blocked, once a person has said what it cost. */
export const canEndAccounted = (to: TaskState): boolean => to === 'failed'

/** Accepted, queued or running: it occupies its owner's one place. */
export const isOutstanding = (state: TaskState): boolean =>
  state === 'accepted' || state === 'queued' || state === 'running'

/** Not finished: outstanding, or prepared or blocked and waiting for a person. */
export const isOpen = (state: TaskState): boolean =>
  isOutstanding(state) || state === 'prepared' || state === 'blocked'

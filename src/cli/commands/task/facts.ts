/** A task of the board as its owner's session sees it. */
import * as v from 'valibot'
import { taskAccess } from '../../../governance/board/read.js'
import type { Task } from '../../../governance/rows.js'
import type { Session } from '../../../governance/session/types.js'
import type { View as StateView } from '../../../state/types.js'
import { taskFacts, taskFactsShape, taskText } from '../../task-facts.js'

/** Shape of a task on the board; fields are only ever added. */
export const boardTaskShape = v.strictObject({
  ...taskFactsShape.entries,
  /** Whether this session may read the output, and if not, why. */
  access: v.picklist(['current', 'root_replaced', 'goal_changed']),
  recovered: v.array(v.strictObject({ at: v.string(), root: v.string(), from_root: v.string() })),
})
/** A task of the board in JSON output. */
export type BoardTask = v.InferOutput<typeof boardTaskShape>

/** The facts of one of the operator's own tasks. */
export const boardTask = (view: StateView, session: Session, task: Task): BoardTask => ({
  ...taskFacts(view, task),
  access: taskAccess(view, session, task),
  recovered: task.recovered.map((entry) => ({ ...entry })),
})

/** The same as lines of text. */
export const boardTaskText = (task: BoardTask): string => {
  const next = task.access === 'current' ? '' : `, see: sallyport task recover ${task.id}`
  return `${taskText(task)}${'access'.padEnd(14)}${task.access}${next}\n`
}

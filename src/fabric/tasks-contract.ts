/** What goes in and comes out of the operations on tasks of every capability. */
import * as v from 'valibot'
import { contract, type Stamped } from '../base/contract.js'
import { fail } from '../base/errors.js'
import { behindRow } from '../base/page.js'
import { closedObject, strictInteger } from '../base/schema.js'
import { getJob } from '../governance/board/visible-tasks.js'
import {
  boardTaskDocument, boardTaskShape, type BoardTaskDocument, type SeenTask,
} from '../governance/board/task-document.js'
import { ownerOfKind, type Registry } from '../governance/capability.js'
import { taskStates } from '../governance/rows.js'
import { capabilities } from './capabilities.js'

/** What a person may say of a task. */
export const taskVerdicts = ['approve', 'reject', 'accept-overrun', 'accept-held'] as const
export type TaskVerdict = (typeof taskVerdicts)[number]

const one = closedObject({ task: v.string() })
const oneTask = { document: 'task', output: boardTaskShape, toDocument: boardTaskDocument } as const

/** The operator's own tasks, newest first. */
export const taskList = contract({
  name: 'task.list',
  input: closedObject({
    limit: strictInteger(1, 10_000),
    open: v.optional(v.boolean()),
    state: v.optional(v.picklist(taskStates)),
    kind: v.optional(v.string()),
    goal: v.optional(v.string()),
    after: behindRow('task'),
  }),
  output: v.array(boardTaskShape),
  toDocument: (tasks: readonly SeenTask[]) => tasks.map(boardTaskDocument),
})

/** A task with the receipt of its own capability, which has a schema name of its own. */
interface TaskShowDocument {
  readonly task: v.InferOutput<typeof boardTaskShape>
  readonly receipt: Readonly<Record<string, unknown>> | null
}

const receiptOf = (registry: Registry, { view, task }: SeenTask): TaskShowDocument['receipt'] => {
  const stored = getJob(view, task).receipt
  if (stored === null) return null
  const shape = ownerOfKind(registry, task.kind)?.receipt ?? v.never()
  const parsed = v.safeParse(shape, stored)
  if (parsed.success) return parsed.output
  throw fail.damaged('receipt_damaged', 'The stored receipt is not of its shape.', {
    next: 'Run `sallyport state check`.',
  })
}

const showShape = (registry: Registry): v.GenericSchema<unknown, TaskShowDocument> => {
  const shapes = registry.flatMap(({ receipt }) => receipt === null ? [] : [receipt])
  const [only, ...more] = shapes
  const receipt = only === undefined || more.length > 0 ? v.union(shapes) : only
  return v.strictObject({ task: boardTaskShape, receipt: v.nullable(receipt) })
}

/**
 * Reading a task of one of these capabilities and its receipt. Throws `damaged` where the stored
 * receipt has not the shape that its capability says.
 */
export const taskShowContract = (registry: Registry) => contract({
  name: 'task.show',
  input: one,
  output: showShape(registry),
  toDocument: (seen: SeenTask): TaskShowDocument =>
    ({ task: boardTaskDocument(seen), receipt: receiptOf(registry, seen) }),
})

/** The same over the capabilities of this program. */
export const taskShow = taskShowContract(capabilities)

export const taskReview = contract({
  ...oneTask,
  name: 'task.review',
  input: closedObject({ task: v.string(), verdict: v.picklist(taskVerdicts) }),
})

export const taskCancel = contract({ ...oneTask, name: 'task.cancel', input: one })

/** Closing a task whose charge was settled by hand. */
export const taskClose = contract({ ...oneTask, name: 'task.close', input: one })

/** Taking over one task from an earlier session of the same owner. */
export const taskRecoverOne = contract({ ...oneTask, name: 'task.recover', input: one })

/** One task keeps the name of its schema, whichever operation gave it. */
const oneShape = taskRecoverOne.output as v.GenericSchema<Stamped<BoardTaskDocument>>

const recoveredShape = v.strictObject({
  /** How many tasks were taken over. */
  recovered: v.number(),
  /** In how many acts, each with a row of the audit. */
  acts: v.number(),
})

export type RecoveredTasks = v.InferOutput<typeof recoveredShape>

/** Taking over all tasks that are finished. */
export const taskRecoverAll = contract({ name: 'task.recover', output: recoveredShape })

/** The task that was taken over, or what was done to all. */
type TaskRecoverDocument = Stamped<BoardTaskDocument> | RecoveredTasks

/** Taking over one task, or all that are finished. */
export const taskRecover = contract({
  name: 'task.recover',
  input: closedObject({ task: v.optional(v.string()), all: v.optional(v.boolean()) }),
  output: v.union([oneShape, recoveredShape]),
  toDocument: (found: SeenTask | RecoveredTasks): TaskRecoverDocument =>
    'task' in found ? taskRecoverOne.document(found) : found,
})

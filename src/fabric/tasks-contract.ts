/** What goes in and comes out of the operations on tasks of every capability. */
import * as v from 'valibot'
import { receiptOf } from '../alpha/output.js'
import { alphaReceiptShape } from '../alpha/receipt.js'
import { contract } from '../base/contract.js'
import { closedObject, strictInteger } from '../base/schema.js'
import { getJob } from '../governance/board/read.js'
import {
  boardTaskDocument, boardTaskShape, type SeenTask,
} from '../governance/board/task-document.js'
import { taskStates } from '../governance/rows.js'

/** What a person may say of a task. */
export const taskVerdicts = ['approve', 'reject', 'accept-overrun'] as const
export type TaskVerdict = (typeof taskVerdicts)[number]

const one = closedObject({ task: v.string() })
const oneTask = {
  document: 'task', version: 1, output: boardTaskShape, toDocument: boardTaskDocument,
} as const

/** The operator's own tasks, newest first. */
export const taskList = contract({
  name: 'task.list',
  version: 1,
  input: closedObject({
    limit: strictInteger(1, 10_000),
    open: v.optional(v.boolean()),
    state: v.optional(v.picklist(taskStates)),
    kind: v.optional(v.string()),
    goal: v.optional(v.string()),
  }),
  output: v.array(boardTaskShape),
  toDocument: (tasks: readonly SeenTask[]) => tasks.map(boardTaskDocument),
})

const showShape = v.strictObject({
  task: boardTaskShape,
  /** The receipt of the task's own capability, with its own schema name. */
  receipt: v.nullable(alphaReceiptShape),
})
/** A task with its receipt. */
export type TaskShowDocument = v.InferOutput<typeof showShape>

/** Reading a task and its receipt. Throws `damaged` where the stored receipt has not its shape. */
export const taskShow = contract({
  name: 'task.show',
  version: 1,
  input: one,
  output: showShape,
  toDocument: (seen: SeenTask) => ({
    task: boardTaskDocument(seen), receipt: receiptOf(getJob(seen.view, seen.task).receipt),
  }),
})

/** The verdict on what a task gave. */
export const taskReview = contract({
  ...oneTask,
  name: 'task.review',
  input: closedObject({ task: v.string(), verdict: v.picklist(taskVerdicts) }),
})

/** Cancelling a task. */
export const taskCancel = contract({ ...oneTask, name: 'task.cancel', input: one })

/** Taking over a task from an earlier session of the same owner. */
export const taskRecover = contract({ ...oneTask, name: 'task.recover', input: one })

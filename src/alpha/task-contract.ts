/** What goes in and comes out of questions, answers and their tasks. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { finishReasons } from '../base/finish-reason.js'
import { behindRow } from '../base/page.js'
import { closedObject, strictInteger } from '../base/schema.js'
import { getJob } from '../governance/board/visible-tasks.js'
import { taskDocument, taskShape, type ToldOfTask } from '../governance/board/task-document.js'
import type { Task } from '../governance/rows.js'
import type { View } from '../state/types.js'
import { alphaInputShape } from './input.js'
import { receiptOf, type AlphaOutput } from './output.js'
import { alphaReceiptShape } from './receipt.js'

const one = closedObject({ task: v.string() })

const answerShape = v.strictObject({
  task: taskShape, answer: v.string(),
  /** Why the provider said that the answer ended; null where it said nothing. */
  finish_reason: v.nullable(v.picklist(finishReasons)),
  receipt: alphaReceiptShape,
})
/** An answer with its task and receipt. */
export type AnswerDocument = v.InferOutput<typeof answerShape>

const answer = {
  document: 'alpha.answer',
  output: answerShape,
  toDocument: ({ view, task, answer: text, receipt }: AlphaOutput & { readonly view: View }) =>
    ({
      task: taskDocument(view, task), answer: text,
      finish_reason: receipt.finish_reason ?? null, receipt,
    }),
} as const

/** One question, one answer. Whatever is no answer is thrown by the use case. */
export const alphaAsk = contract({ ...answer, name: 'alpha.ask', input: alphaInputShape })

/** The answer of a succeeded task again. */
export const alphaOutput = contract({ ...answer, name: 'alpha.output', input: one })

interface ViewedTask {
  readonly view: View
  readonly task: Task
  readonly told?: ToldOfTask
}

const oneTask = {
  document: 'alpha.task',
  output: taskShape,
  toDocument: ({ view, task, told }: ViewedTask) => taskDocument(view, task, told),
} as const

/** Text tasks of the operator, newest first. */
export const alphaTasks = contract({
  name: 'alpha.tasks',
  input: closedObject({
    limit: strictInteger(1, 10_000), open: v.optional(v.boolean()),
    after: behindRow('task'),
  }),
  output: v.array(taskShape),
  toDocument: (tasks: readonly ViewedTask[]) =>
    tasks.map(({ view, task }) => taskDocument(view, task)),
})

const taskReceiptShape = v.strictObject({ task: taskShape, receipt: v.nullable(alphaReceiptShape) })
export const alphaTask = contract({
  name: 'alpha.task',
  document: 'alpha.task_receipt',
  input: one,
  output: taskReceiptShape,
  toDocument: ({ view, task }: ViewedTask) => ({
    task: taskDocument(view, task), receipt: receiptOf(getJob(view, task).receipt),
  }),
})

export const alphaReview = contract({
  ...oneTask,
  name: 'alpha.review',
  input: closedObject({
    task: v.string(), verdict: v.picklist(['approve', 'reject', 'accept-overrun', 'accept-held']),
  }),
})

export const alphaCancel = contract({ ...oneTask, name: 'alpha.cancel', input: one })

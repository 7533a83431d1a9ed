import * as v from 'valibot'
import { fail } from '../base/errors.js'
import { readArtifact, requireArtifact } from '../governance/artifacts.js'
import { getJob, requireOwnTask } from '../governance/board/visible-tasks.js'
import type { Gov, Session } from '../governance/context.js'
import type { Task } from '../governance/rows.js'
import type { View } from '../state/types.js'
import { alphaArtifactLabels, alphaCapability } from './constants.js'
import { alphaReceiptShape, type AlphaReceipt } from './receipt.js'

/** Answer and receipt of a succeeded task. */
export interface AlphaOutput {
  readonly task: Task
  readonly answer: string
  readonly receipt: AlphaReceipt
}

/** The stored receipt of a task, checked; null when the task never came so far. */
export const receiptOf = (stored: unknown): AlphaReceipt | null => {
  if (stored === null) return null
  const parsed = v.safeParse(alphaReceiptShape, stored)
  if (parsed.success) return parsed.output
  throw fail.damaged('receipt_damaged', 'The stored receipt is not of its shape.', {
    next: 'Run `sallyport state check`.',
  })
}

/** An altered row must not make one task's or owner's answer that of another. */
const requireOwnResult = (
  view: View, task: Task, receipt: AlphaReceipt, artifactId: string,
): void => {
  const row = requireArtifact(view, artifactId)
  const own = row.task_id === task.task_id && row.owner === task.owner
    && receipt.task_id === task.task_id && receipt.result_artifact_id === artifactId
    && receipt.output_digest === row.ref.sha256
  if (own) return
  throw fail.damaged('result_mismatch', 'Task, receipt and answer do not belong together.', {
    next: 'Run `sallyport state check`.', details: { task_id: task.task_id },
  })
}

/**
 * Reads the output of a task: owner, root and goal of now decide. It contacts
 * nobody. Throws `not_found` for a foreign task, `blocked` or `conflict` while there is no answer.
 */
export const readOutput = (gov: Gov, session: Session, taskId: string): AlphaOutput => {
  const view = gov.store.read()
  const task = requireOwnTask(view, session, taskId, { for: 'read' })
  if (task.kind !== alphaCapability) {
    throw fail.notFound('task_not_found', 'There is no such text task.', {
      next: 'Run `sallyport task list`.',
    })
  }
  const receipt = receiptOf(getJob(view, task).receipt)
  const details = { task_id: task.task_id, state: task.state }
  if (task.state === 'blocked') {
    throw fail.blocked('output_withheld', 'This task is blocked; no answer is released.', {
      reason: task.blocked?.reason ?? 'blocked', details,
      next: `See \`sallyport task show ${task.task_id}\`.`,
    })
  }
  if (task.state !== 'succeeded' || task.result_artifact_id === null || receipt === null) {
    throw fail.conflict('no_output', 'This task has no answer.', {
      reason: task.reason ?? task.state, details,
      next: `See \`sallyport task show ${task.task_id}\`.`,
    })
  }
  requireOwnResult(view, task, receipt, task.result_artifact_id)
  const answer = readArtifact(gov, view, task.result_artifact_id, alphaArtifactLabels.answer)
  return { task, answer: answer.toString('utf8'), receipt }
}

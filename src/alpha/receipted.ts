/** An ask, for a receipt that others can check. */
import { fail } from '../base/errors.js'
import { wasContacted } from '../contact/routes.js'
import { isOutstanding } from '../governance/board/states.js'
import { getJob, requireOwnTask } from '../governance/board/visible-tasks.js'
import { interruptedFacts } from '../governance/interrupted.js'
import type { FindReceipted } from '../governance/receipted.js'
import type { Task } from '../governance/rows.js'
import type { View } from '../state/types.js'
import { alphaCapability } from './constants.js'
import { receiptOf } from './output.js'

/** Whether its question was sent, or may have been: only a hold that was given back proves not. */
const mayHaveSent = (view: View, task: Task): boolean => {
  const marked = wasContacted(view, task.operation_id)
  const { contacted, money } = interruptedFacts(view, task, marked, undefined)
  return contacted || money === 'owed'
}

/** The receipt of a text task, without its digests. Throws `not_found`, `conflict` `no_receipt`. */
export const receiptedAsk: FindReceipted = (_gov, view, session, id) => {
  const task = requireOwnTask(view, session, id, { for: 'show' })
  if (task.kind !== alphaCapability) {
    throw fail.notFound('task_not_found', 'This task asks no question.', {
      next: 'The work of the code host has a receipt under the id of its job: '
        + '`sallyport codehost jobs`.',
    })
  }
  const receipt = receiptOf(getJob(view, task).receipt)
  if (receipt === null && !isOutstanding(task.state) && mayHaveSent(view, task)) {
    throw fail.conflict('no_receipt', 'Rows that the receipt of this task needs are lost.', {
      next: 'Look at the state: `sallyport state check`.', details: { task_id: task.task_id },
    })
  }
  if (receipt === null || !mayHaveSent(view, task)) {
    throw fail.conflict('no_receipt', 'The question of this task was not sent, or is under way.', {
      next: `See \`sallyport task show ${task.task_id}\`.`, details: { task_id: task.task_id },
    })
  }
  const { input_digest: question, output_digest: answer, policy_digest: policy, ...facts } = receipt
  return {
    what: 'ask',
    content: [
      { name: 'question', sha256: question }, { name: 'policy', sha256: policy },
      ...(answer === null ? [] : [{ name: 'answer', sha256: answer }]),
    ],
    facts: { state: task.state, created_at: task.created_at, ...facts },
  }
}

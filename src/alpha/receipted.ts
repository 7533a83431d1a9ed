/** An ask, for a receipt that others can check. */
import { fail } from '../base/errors.js'
import { getJob, requireOwnTask } from '../governance/board/visible-tasks.js'
import type { FindReceipted } from '../governance/receipted.js'
import { alphaCapability } from './constants.js'
import { receiptOf } from './output.js'

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
  if (receipt === null) {
    throw fail.conflict('no_receipt', 'This task has not come so far that it has a receipt.', {
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

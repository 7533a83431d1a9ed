/** What people decide about asks. */
import { getJob, getTask } from '../governance/board/read.js'
import type { CapabilityDecisions } from '../governance/capability.js'
import { deploymentProfile } from '../governance/profile.js'
import { writeReceipt } from './ask/finish.js'
import { alphaCapability, answerHeld, costOverrun } from './constants.js'
import { reviewHeldAnswer } from './review-held.js'

/**
 * The review of an overrun, and the receipt that tells a charge settled by hand in the same
 * record, so that receipt and ledger never disagree.
 */
export const alphaDecisions: CapabilityDecisions = {
  reviewOverrun: async (gov, session, request) => {
    const { provider } = deploymentProfile(gov.store)
    return (await reviewHeldAnswer(gov, session, provider, { ...request, held: costOverrun })).task
  },
  reviewHeld: async (gov, session, request) => {
    const { provider } = deploymentProfile(gov.store)
    return (await reviewHeldAnswer(gov, session, provider, { ...request, held: answerHeld })).task
  },
  settledByHand: (gov, tx, now, { task_id: taskId }) => {
    const task = taskId === null ? undefined : getTask(tx, taskId)
    if (task?.kind !== alphaCapability || getJob(tx, task).receipt === null) return
    writeReceipt(tx, now, task, deploymentProfile(gov.store).provider)
  },
}

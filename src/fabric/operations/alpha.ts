import { alphaDrop, alphaInputs, dropInput, waitingInputs } from '../../alpha/ask/kept-input.js'
import { readOutput } from '../../alpha/output.js'
import { alphaOutput } from '../../alpha/task-contract.js'
import { operation } from '../operation.js'

/** Questions that wait for their task, and the answer of one. */
export const alpha = {
  inputs: operation(alphaInputs, 'read', ({ gov, session }) =>
    waitingInputs(gov, gov.store.read(), session)),
  drop: operation(alphaDrop, 'mutate', ({ gov, session }, { input }) =>
    dropInput(gov, session, input)),
  output: operation(alphaOutput, 'see', async ({ gov, session }, { task }) => {
    await gov.observer.at('ask.output')
    return { ...readOutput(gov, session, task), view: gov.store.read() }
  }),
}

/** What an operator has to know first, over HTTP. */
import { overviewShow } from '../../fabric/overview/contract.js'
import { readOverview } from '../../fabric/overview/overview.js'
import type { Operation } from '../operation.js'

/** The operations. */
export const overviewOperations: readonly Operation[] = [{
  contract: overviewShow, method: 'GET', path: '/api/overview',
  summary: 'What waits for a person, what is new, what it cost, what is allowed, who sends.',
  verb: null, mode: 'see', body: null, status: 200, where: 'thread',
  run: async ({ gov, session, world }) =>
    overviewShow.answer(await readOverview(gov, session, world)),
}]

import { fail, type ErrorDetails, type SallyportError } from '../../base/errors.js'

/** Why a result that was paid for is not there: nothing else is wrong with it. */
export const resultNotStored = 'result_not_stored'

/** What ends a call, and a pass of calls, whose paid result could not be written. */
export const resultLost = (details: ErrorDetails): SallyportError => fail.failed(
  resultNotStored, 'The result could not be written and is lost; its charge stands.', {
    next: 'Make room on the disk of the state, and see that its folders belong to you.', details,
  },
)

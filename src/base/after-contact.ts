import { fail, type SallyportError } from './errors.js'
import { requestsSent } from './outcome.js'

/**
 * The error of a use case that has contacted somebody by then: no refusal may have a status that
 * says otherwise. What it was refused for stays its code. `kind`: what it becomes.
 */
export const afterContact = (error: SallyportError, kind: 'blocked' | 'remote'): SallyportError => {
  if (requestsSent[error.kind] !== 'none') return error
  const { code, message, reason, next, details } = error
  return fail[kind](code, message, {
    details, cause: error,
    ...(reason === null ? {} : { reason }), ...(next === null ? {} : { next }),
  })
}

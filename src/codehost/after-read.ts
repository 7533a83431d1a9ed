import { fail, SallyportError } from '../base/errors.js'
import { requestsSent } from '../base/outcome.js'

/**
 * The error of a use case that has read by then: no refusal may have a status that says otherwise.
 * What it was refused for stays its code.
 */
export function afterRead(error: SallyportError): SallyportError
export function afterRead(error: unknown): unknown
export function afterRead(error: unknown): unknown {
  if (!(error instanceof SallyportError) || requestsSent[error.kind] !== 'none') return error
  const { code, message, reason, next, details } = error
  return fail.blocked(code, message, {
    details, cause: error,
    ...(reason === null ? {} : { reason }), ...(next === null ? {} : { next }),
  })
}

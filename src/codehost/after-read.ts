import { SallyportError } from '../base/errors.js'
import { afterContact } from '../base/outcome.js'

/** The error of a use case that has read at the host by then: it ends as `blocked`. */
export function afterRead(error: SallyportError): SallyportError
export function afterRead(error: unknown): unknown
export function afterRead(error: unknown): unknown {
  return error instanceof SallyportError ? afterContact(error, 'blocked') : error
}

/** From what an operation gave, or threw, to status and body: in the process as in a thread. */
import { Degraded } from '../base/contract.js'
import { fail, SallyportError } from '../base/errors.js'
import { errorBody, type ErrorBody } from '../base/outcome.js'
import { HttpRefusal } from './http/refusal.js'
import { Answered, type Operation } from './operation.js'

/** A reply; it can be handed over between threads. */
export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const defect = (thrown: unknown): ErrorBody => ({
  error: {
    code: 'unexpected', message: 'Something failed that should not be able to.',
    reason: thrown instanceof Error ? thrown.name : typeof thrown, status: 500, details: {},
    next: [],
  },
})

const ofSystem = (thrown: unknown): SallyportError | null => {
  if (!(thrown instanceof Error)) return null
  const { code, syscall } = thrown as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined || !/^E[A-Z0-9]+$/.test(code)) return null
  return fail.failed('system_error', `The operating system refused ${syscall} (${code}).`, {
    details: { errno: code, syscall }, cause: thrown,
  })
}

/** The reply to what was thrown. A result that stands although it failed comes as `receipt`. */
export const replyOfThrown = (thrown: unknown): Reply => {
  if (thrown instanceof HttpRefusal) {
    return { status: thrown.status, body: thrown.body, headers: thrown.headers }
  }
  if (thrown instanceof Degraded) {
    const body = errorBody(thrown.failure)
    return { status: body.error.status, body: { ...body, receipt: thrown.result as unknown } }
  }
  const expected = thrown instanceof SallyportError ? thrown : ofSystem(thrown)
  const body = expected === null ? defect(thrown) : errorBody(expected)
  return { status: body.error.status, body }
}

/** The reply to what an operation gave. */
export const replyOf = ({ status }: Operation, result: unknown): Reply =>
  (result instanceof Answered
    ? { status: result.status, body: result.document } : { status, body: result })

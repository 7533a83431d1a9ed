/** What a look after a closure is refused for: the reasons of a closure, in words of its own. */
import { fail, SallyportError } from '../../../base/errors.js'
import { afterRead } from '../../after-read.js'
import { closureBlockers, type ClosureBlocker } from '../blockers.js'
import type { ObserveRequest } from './request.js'

const isBlocker = (reason: string | null): reason is ClosureBlocker =>
  reason !== null && reason in closureBlockers

interface Asked {
  readonly jobId: string
  readonly request: ObserveRequest
}

const again = ({ jobId, request }: Asked): string =>
  `The closure stands. To look again: \`sallyport codehost observe ${jobId} `
    + `--expected-read-revision ${request.expected_read_revision}\`.`

/** The error of a look, whatever it was; after reads none that says that nothing was sent. */
export const observationError = (error: unknown, asked: Asked, reads: boolean): unknown => {
  if (!(error instanceof SallyportError)) return error
  const parts = { next: again(asked), details: { job_id: asked.jobId }, cause: error }
  if (error.code === 'closure_blocked' && isBlocker(error.reason)) {
    return fail.blocked(
      'observation_blocked', `${closureBlockers[error.reason].text} Nothing was recorded.`,
      { ...parts, reason: error.reason },
    )
  }
  if (error.kind === 'cancelled') {
    return fail.cancelled(
      'observe_cancelled', 'The look was cancelled; nothing was recorded.', parts)
  }
  return reads ? afterRead(error) : error
}

/**
 * What a thrown value becomes: an exit status and the lines that go to stderr. Expected failures
 * print one line and perhaps the next step; only misuse prints usage; only a defect shows a stack.
 */
import { Degraded } from '../base/contract.js'
import { systemFailure } from '../base/errno.js'
import { SallyportError, fail } from '../base/errors.js'
import { errorBody, exitStatus, type ErrorBody } from '../base/outcome.js'
import { toldText, type Carried } from '../base/told.js'
import type { Secrets } from './redact.js'
import { visible } from './text.js'

interface FailureOptions {
  readonly json: boolean
  readonly verbose: boolean
  readonly secrets: Secrets
  /** What the commands that it tells carry. */
  readonly carried: Carried
  /** Usage line of the command, when one was found. */
  readonly usage: string | null
}

/** A failure, ready to print. */
interface Shown {
  readonly status: number
  readonly stderr: string
}

/** Prompts that were left with Ctrl-C, and waits that were aborted. */
const leftNames = new Set([
  'ExitPromptError', 'AbortPromptError', 'CancelPromptError', 'AbortError',
])

/** Turns anything thrown into the one error type; null for a defect. */
const expectedOf = (thrown: unknown): SallyportError | null => {
  if (thrown instanceof Degraded) return thrown.failure
  if (thrown instanceof SallyportError) return thrown
  if (!(thrown instanceof Error)) return null
  if (leftNames.has(thrown.name)) {
    return fail.cancelled('cancelled', 'Cancelled.', { cause: thrown })
  }
  return systemFailure(thrown)
}

/** Exit status and stderr text of a failure. */
export const showFailure = (thrown: unknown, options: FailureOptions): Shown => {
  const error = expectedOf(thrown)
  if (error === null) return showDefect(thrown, options)
  const status = exitStatus[error.kind]
  const { carried } = options
  const stack = options.verbose ? stackLines(error, options.secrets) : ''
  if (options.json) return { status, stderr: stack + jsonLine(errorBody(error, carried)) }
  const usage = error.kind === 'usage' && options.usage !== null ? `usage: ${options.usage}\n` : ''
  const next = error.next === null ? '' : `next: ${toldText(error.next, carried)}\n`
  const message = toldText(error.message, carried)
  return { status, stderr: visible(`${stack}sallyport: ${message}\n${usage}${next}`) }
}

const showDefect = (thrown: unknown, { json, secrets }: FailureOptions): Shown => {
  const name = thrown instanceof Error ? thrown.name : typeof thrown
  const stack = stackLines(thrown, secrets)
  const body: ErrorBody = {
    error: {
      code: 'unexpected',
      message: 'Something failed that should not be able to.',
      reason: name,
      status: 500,
      details: {},
      hint: null,
      next: [],
    },
  }
  const last = json ? jsonLine(body) : `sallyport: ${body.error.message}\n`
  return { status: exitStatus.failed, stderr: stack + last }
}

const jsonLine = (body: ErrorBody): string => `${visible(JSON.stringify(body))}\n`

const stackLines = (thrown: unknown, secrets: Secrets): string => {
  const stacks: string[] = []
  for (let at = thrown; at instanceof Error && stacks.length < 5; at = at.cause) {
    stacks.push(at.stack ?? at.message)
  }
  return `${visible(secrets.cut(stacks.join('\ncaused by: ') || String(thrown)))}\n`
}

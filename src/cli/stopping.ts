/**
 * What an operator who asks the program to stop is told. The first signal asks: on a terminal it is
 * said what is still waited for, and how long. The second one ends the process, and its last act is
 * the error line, so that nobody has to guess what became of the money.
 */
import { fail, type SallyportError } from '../base/errors.js'
import type { Waiting, WaitsFor } from '../base/observer.js'
import type { Carried } from '../base/told.js'
import type { CliDeps } from './deps.js'
import { showFailure } from './failure.js'
import { wantsJson, type Globals } from './globals.js'
import { tell } from './output.js'
import type { Secrets } from './redact.js'

/**
 * How long a second signal leaves an operation that has sent nothing, milliseconds: it ends by
 * itself within a few of them, and only then is its hold given back.
 */
const unsentMsMax = 2_000

const nouns: Readonly<Record<WaitsFor, string>> = {
  lane: 'the lane', connection: 'the connection', reply: 'the reply', bill: 'the bill',
  record: 'the outcome to be recorded',
}

/** The line of a first signal, or of what is waited for after it; `nowMs` is monotonic. */
export const waitingLine = (waiting: Waiting, nowMs: number): string => {
  if (!waiting.sent) return 'nothing was sent; stopping'
  const seconds = Math.max(0, Math.ceil((waiting.untilMs - nowMs) / 1000))
  return `sent; waiting up to ${seconds} s for ${nouns[waiting.for]}; again leaves it unknown`
}

const contactLost = ({ operationId, taskId }: Waiting): SallyportError =>
  fail.cancelled(
    'interrupted',
    `Ended by a second signal: the request of operation ${operationId}`
      + `${taskId === null ? '' : ` (task ${taskId})`} may have been sent; its end is unknown.`,
    {
      reason: 'outcome_not_recorded',
      details: { operation_id: operationId, task_id: taskId },
      next: 'The next command that changes something makes its charge unknown; then see: '
        + '`sallyport ledger reservations`.',
    },
  )

const endLost = ({ operationId, taskId }: Waiting): SallyportError =>
  fail.cancelled(
    'interrupted',
    `Ended by a second signal: nothing of operation ${operationId}`
      + `${taskId === null ? '' : ` (task ${taskId})`} was sent, but that could not be recorded.`,
    {
      details: { operation_id: operationId, task_id: taskId },
      next: 'The next command that changes something decides what it held; then see: '
        + '`sallyport ledger reservations`.',
    },
  )

/** The failure that a second signal is: unknown only where a request byte may have left. */
export const interruption = (waiting: Waiting | null): SallyportError => {
  if (waiting === null) return fail.cancelled('interrupted', 'Ended by a second signal.')
  return waiting.sent ? contactLost(waiting) : endLost(waiting)
}

/** What a command that may be stopped needs of its face. */
interface Stopping {
  /** Takes note of what is waited for now, see `Observer.waits`. */
  waits(now: Waiting | null): void
}

interface StoppingOptions {
  readonly globals: Globals
  readonly secrets: Secrets
  /** What the commands that are told carry. */
  readonly carried: Carried
  /** Takes the picture of the progress off the line. */
  clear(): void
}

/** Follows one command: what it waits for, and both signals. */
export const followStopping = (
  deps: CliDeps, { globals, secrets, carried, clear }: StoppingOptions,
): Stopping => {
  const { io, clock, stop } = deps
  let waiting: Waiting | null = null
  const say = (): void => {
    if (waiting === null || globals.quiet || !io.terminal.stderr) return
    clear()
    tell(io, `sallyport: ${waitingLine(waiting, clock.monotonicMs())}`)
  }
  const lastWords = (): string => {
    clear()
    return showFailure(interruption(waiting), {
      json: wantsJson(deps.argv), verbose: false, secrets, carried, usage: null,
    }).stderr
  }
  let insisted = false
  deps.onInsist((end) => {
    const grants = !insisted && waiting !== null && !waiting.sent
    insisted = true
    if (!grants) return end(lastWords())
    void clock.sleep(unsentMsMax).then(() => end(lastWords()))
  })
  return {
    waits(now) {
      const other = now !== null && now.for !== waiting?.for
      // Listened for only while there is something to say.
      if (waiting === null && now !== null) stop.addEventListener('abort', say)
      if (now === null) stop.removeEventListener('abort', say)
      waiting = now
      // Writing down takes a moment: that it is waited for is told to who asks, not announced.
      if (stop.aborted && other && now.sent && now.for !== 'record') say()
    },
  }
}

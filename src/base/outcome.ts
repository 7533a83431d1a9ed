/**
 * The one table from the class of a failure to what each face answers with: an exit status at the
 * terminal, an HTTP status at the service. Scripts rely on both, so numbers never change meaning.
 */
import * as v from 'valibot'
import { errorBodyShape } from './error-shape.js'
import { fail, type ErrorDetails, type ErrorKind, type SallyportError } from './errors.js'
import type { ExitName } from './exit-status.js'
import { nothingCarried, toldSteps, toldText, type Carried } from './told.js'

export { exitStatus, type ExitName } from './exit-status.js'

/**
 * Whether a request may have left when a command ended so: what help tells, in one place, and
 * what batches keep to (see `partialOf`). `some`: at least one did, or part of the work was done.
 */
export const requestsSent: Readonly<Record<ExitName, 'none' | 'maybe' | 'some'>> = {
  ok: 'maybe', failed: 'maybe', usage: 'none', rejected: 'none', unauthorized: 'maybe',
  conflict: 'none', not_found: 'none', blocked: 'maybe', budget: 'none', remote: 'maybe',
  no_state: 'none', locked: 'none', damaged: 'maybe', partial: 'some', cancelled: 'maybe',
}

/** HTTP statuses by kind; `httpStatusOf` refines two of them. */
const httpStatus: Readonly<Record<ErrorKind, number>> = {
  failed: 500,
  usage: 400,
  rejected: 400,
  unauthorized: 403,
  conflict: 409,
  not_found: 404,
  blocked: 423,
  budget: 402,
  remote: 502,
  no_state: 503,
  locked: 503,
  damaged: 500,
  // The document beside it says what was done and what was not.
  partial: 207,
  // The caller went away before there was an answer.
  cancelled: 499,
}

/** Codes of `unauthorized` failures where nobody is known to be asking; others are 403. */
const sessionCode = /^(session|login|passphrase|token|principal|edge_credential|page)_/

/**
 * HTTP status of a failure. A `rejected` failure whose `reason` is `rule` broke a rule between
 * well-formed values (422), one whose `reason` is `too_large` is about a body above its size (413);
 * any other broke a form or a limit (400).
 */
const httpStatusOf = (error: Pick<SallyportError, 'kind' | 'code' | 'reason'>): number => {
  if (error.kind === 'unauthorized' && sessionCode.test(error.code)) return 401
  if (error.kind === 'rejected' && error.reason === 'rule') return 422
  if (error.kind === 'rejected' && error.reason === 'too_large') return 413
  return httpStatus[error.kind]
}

/** A failure as a document holds it. */
export const errorShape = v.strictObject({
  ...errorBodyShape.entries.error.entries, status: v.number(),
})

/** Body of a failure: the last line of stderr with `--json`, and the service's answer. */
export type ErrorBody = v.InferOutput<typeof errorBodyShape>

/** The body of an expected failure; its commands as a line with these flags is told them. */
export const errorBody = (error: SallyportError, carried: Carried = nothingCarried): ErrorBody => ({
  error: {
    code: error.code,
    message: toldText(error.message, carried),
    reason: error.reason,
    status: httpStatusOf(error),
    details: error.details,
    hint: error.next === null ? null : toldText(error.next, carried),
    next: toldSteps(error.next, carried),
  },
})

/** Which of several failures decides the exit status, gravest first: 12, 13, 7, 9. */
export const precedence: readonly ErrorKind[] = ['damaged', 'partial', 'blocked', 'remote']

/** The failure that speaks for several; null for none. A stop comes next; ties go to the first. */
export const gravest = (errors: readonly SallyportError[]): SallyportError | null => {
  for (const kind of precedence) {
    const found = errors.find((error) => error.kind === kind)
    if (found !== undefined) return found
  }
  return errors.find(({ kind }) => kind === 'cancelled') ?? errors[0] ?? null
}

/** What a batch did before it failed. */
export interface BatchWork {
  /** Parts that ended well and were new. */
  readonly done: number
  /** Parts of which a request was, or may have been, sent, whatever became of them. */
  readonly sent: number
  /** Counts and cost, for the error's details. */
  readonly counts: ErrorDetails
}

/** What a failure says besides its kind and its sentence, for another one in its place. */
const besides = ({ reason, next, details }: SallyportError, more: ErrorDetails = {}) => ({
  details: { ...details, ...more },
  ...(reason === null ? {} : { reason }), ...(next === null ? {} : { next }),
})

/**
 * The error of a use case that has contacted somebody by then: no refusal may have a status that
 * says otherwise. What it was refused for stays its code. `kind`: what it becomes.
 */
export const afterContact = (error: SallyportError, kind: 'blocked' | 'remote'): SallyportError =>
  (requestsSent[error.kind] === 'none'
    ? fail[kind](error.code, error.message, { ...besides(error), cause: error }) : error)

/** Failures that say more than that a batch was cut short. */
const keepsKind: ReadonlySet<ErrorKind> = new Set(['damaged', 'cancelled', 'partial'])

/**
 * The failure of a batch that did part of its work: `partial`, with the code and reason of what
 * ended it. A failure of a batch that did nothing and sent nothing stays what it is.
 */
export const partialOf = (
  failure: SallyportError | null, { done, sent, counts }: BatchWork,
): SallyportError | null => {
  if (failure === null || keepsKind.has(failure.kind)) return failure
  const untrue = sent > 0 && requestsSent[failure.kind] === 'none'
  if (done === 0 && !untrue) return failure
  return fail.partial(failure.code, `Part of it was done. ${failure.message}`, {
    ...besides(failure, counts), cause: failure,
  })
}

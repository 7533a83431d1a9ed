/**
 * The one error type that crosses a layer. A use case throws it, a face turns its `kind` into an
 * exit status or an HTTP status. Texts never quote input, bodies, keys or questions.
 */

/** What class of failure this is; each kind has one exit status and one HTTP status (docs/cli). */
export type ErrorKind =
  | 'failed'
  | 'usage'
  | 'rejected'
  | 'unauthorized'
  | 'conflict'
  | 'not_found'
  | 'blocked'
  | 'budget'
  | 'remote'
  | 'no_state'
  | 'locked'
  | 'damaged'
  | 'partial'
  | 'cancelled'

/** Structured facts that are safe to print: names, numbers, limits, ids. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>

interface ErrorParts {
  readonly kind: ErrorKind
  /** Stable snake_case name that scripts match, for example `stale_revision`. */
  readonly code: string
  /** One sentence: what was wrong and which limit. */
  readonly message: string
  /** The next command to run or what to change, one sentence. */
  readonly next?: string
  /** A finer reason, for example the `reason_code` of a blocked task. */
  readonly reason?: string
  readonly details?: ErrorDetails
  readonly cause?: unknown
}

/** An expected failure. Anything else that is thrown is a defect and shows its stack. */
export class SallyportError extends Error {
  readonly kind: ErrorKind
  readonly code: string
  readonly next: string | null
  readonly reason: string | null
  readonly details: ErrorDetails

  constructor(parts: ErrorParts) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.name = 'SallyportError'
    this.kind = parts.kind
    this.code = parts.code
    this.next = parts.next ?? null
    this.reason = parts.reason ?? null
    this.details = parts.details ?? {}
  }
}

type Rest = Omit<ErrorParts, 'kind' | 'code' | 'message'>

const maker =
  (kind: ErrorKind) =>
  (code: string, message: string, rest: Rest = {}): SallyportError =>
    new SallyportError({ kind, code, message, ...rest })

/** Constructors by kind: `throw fail.rejected('question_too_long', 'The question …')`. */
export const fail = {
  failed: maker('failed'),
  usage: maker('usage'),
  rejected: maker('rejected'),
  unauthorized: maker('unauthorized'),
  conflict: maker('conflict'),
  notFound: maker('not_found'),
  blocked: maker('blocked'),
  budget: maker('budget'),
  remote: maker('remote'),
  noState: maker('no_state'),
  locked: maker('locked'),
  damaged: maker('damaged'),
  partial: maker('partial'),
  cancelled: maker('cancelled'),
} as const

/** From what a route gave, or threw, to status and body: in the process as in a thread. */
import { Degraded } from '../base/contract.js'
import { systemFailure } from '../base/errno.js'
import { SallyportError } from '../base/errors.js'
import { errorBody, type ErrorBody } from '../base/outcome.js'
import { pageDocument } from '../base/page.js'
import { HttpRefusal } from './http/refusal.js'
import { stackOf } from './log.js'
import { Answered, type Asked, type Route } from './route.js'
import { pagedField } from './query.js'

/** A reply; it can be handed over between threads. */
export interface Reply {
  readonly status: number
  readonly body: unknown
  /** The body as it goes out, where it was made before; one text for all who ask. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Where a failure of 5xx was thrown: for the log, never sent. */
  readonly stack?: string
}

const defect = (thrown: unknown): ErrorBody => ({
  error: {
    code: 'unexpected', message: 'Something failed that should not be able to.',
    reason: thrown instanceof Error ? thrown.name : typeof thrown, status: 500, details: {},
    hint: null, next: [],
  },
})

/** The reply to what was thrown. A result that stands although it failed comes as `receipt`. */
export const replyOfThrown = (thrown: unknown): Reply => {
  const reply = refusedBy(thrown)
  const isOurs = (error: Error): boolean =>
    error instanceof SallyportError || error instanceof HttpRefusal || error instanceof Degraded
  return reply.status < 500 ? reply : { ...reply, stack: stackOf(thrown, isOurs) }
}

const refusedBy = (thrown: unknown): Reply => {
  if (thrown instanceof HttpRefusal) {
    return { status: thrown.status, body: thrown.body, headers: thrown.headers }
  }
  if (thrown instanceof Degraded) {
    const body = errorBody(thrown.failure)
    return { status: body.error.status, body: { ...body, receipt: thrown.result as unknown } }
  }
  const expected = thrown instanceof SallyportError ? thrown : systemFailure(thrown)
  const body = expected === null ? defect(thrown) : errorBody(expected)
  return { status: body.error.status, body }
}

/** A list that was cut says so in a header, and in its document where that was asked for. */
const listReply = (
  { status }: Route, rows: readonly unknown[], { asked: { query }, next }: Gave,
): Reply => ({
  status, body: query[pagedField.name] === 'true' ? pageDocument(rows, next) : rows,
  ...(next === null ? {} : { headers: { Link: `<${next}>; rel="next"` } }),
})

/** What was asked, and the path of what comes behind what was given; null at the end of a list. */
interface Gave {
  readonly asked: Asked
  readonly next: string | null
}

export const replyOf = (route: Route, result: unknown, gave: Gave): Reply => {
  if (route.paged === true) return listReply(route, result as readonly unknown[], gave)
  return result instanceof Answered
    ? { status: result.status, body: result.document }
    : { status: route.status, body: result }
}

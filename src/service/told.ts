/**
 * Replies with their commands as this service tells them: they name its state where that is not the
 * default, since whoever asks need not type where the service was started. Only operators are told
 * where a state lies: no device, and nobody whose credential opens nothing.
 */
import { errorBodyShape } from '../base/error-shape.js'
import { pageSchemaName } from '../base/page.js'
import { toldDocument } from '../base/told-document.js'
import type { Carried } from '../base/told.js'
import type { Described } from './route.js'
import type { Reply } from './reply.js'

const unauthorized = 401

const isForOperators = ({ by }: Described): boolean =>
  by === undefined || (by.includes('session') && !by.includes('device'))

const isFailure = (
  body: unknown,
): body is { readonly error: unknown; readonly receipt?: unknown } =>
  typeof body === 'object' && body !== null && 'error' in body

const isPage = (body: unknown): body is { readonly rows: readonly unknown[] } =>
  typeof body === 'object' && body !== null && 'schema' in body && body.schema === pageSchemaName

const errorShape = errorBodyShape.entries.error

/** What was done stands beside what went wrong. */
const toldBody = (
  { status, body }: Reply, { contract, later }: Described, carried: Carried,
): unknown => {
  const shape = status === later?.status ? later.contract.output : contract.output
  if (isPage(body)) return { ...body, rows: toldDocument(body.rows, shape, carried) }
  if (!isFailure(body)) return toldDocument(body, shape, carried)
  return {
    ...body, error: toldDocument(body.error, errorShape, carried),
    ...('receipt' in body ? { receipt: toldDocument(body.receipt, shape, carried) } : {}),
  }
}

/** A reply as it is told; `described`: what it is a reply of, undefined where nothing is known. */
export const toldReply = (
  reply: Reply, described: Described | undefined, carried: Carried,
): Reply => {
  const isTold = carried.length > 0 && described !== undefined && reply.text === undefined
  return isTold && isForOperators(described) && reply.status !== unauthorized
    ? { ...reply, body: toldBody(reply, described, carried) } : reply
}

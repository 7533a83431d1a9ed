/**
 * The request to look once more at what a closure proved: an acknowledgment of its own, and the
 * revision at which the connection is read. Strict as a close request is (C-152, C-173).
 */
import * as v from 'valibot'
import { closedObject, parseClosed, strictInteger } from '../../../base/schema.js'
import { closeRequestJson } from '../../jobs/closed/request.js'

/** Its shape. */
export const observeShape = closedObject({
  acknowledged_closure_observation: v.literal(true, 'must be exactly true'),
  expected_read_revision: strictInteger(1, Number.MAX_SAFE_INTEGER),
})
export type ObserveRequest = v.InferOutput<typeof observeShape>

/** A value that has the shape. Throws `rejected` `request_invalid`. */
export const observeRequestOf = (value: unknown): ObserveRequest =>
  parseClosed(observeShape, value, { code: 'request_invalid', what: 'the observe request' })

/** A request as a document. Throws `rejected` (`json_…`, `request_invalid`). */
export const observeRequestOfBytes = (bytes: Uint8Array): ObserveRequest =>
  observeRequestOf(closeRequestJson(bytes))

/** What goes in and comes out of looking at what a closure proved. */
import * as v from 'valibot'
import { contract } from '../../../base/contract.js'
import { closedObject, strictInteger, nullableText, text } from '../../../base/schema.js'
import type { Observation } from './observe.js'

const number = v.number()
const yes = v.literal(true)

const observed = v.strictObject({
  job: text,
  closure: text,
  /** As it was and stays. */
  job_state: text,
  connection: text,
  repository: text,
  operation: text,
  observed_at: text,
  read_revision: number,
  gets: number,
  raw_bytes: number,
  /** Digests of the sealed journals, which the READ history names. */
  journals: v.array(text),
  effects: v.array(v.strictObject({
    effect: number, action: text, path: text, remote_id: v.nullable(number),
    object_id: nullableText, raw_sha256: text, payload_sha256: text,
    /** For `codehost jobs JOB --readback`. */
    readback: text,
  })),
  nothing_else_changed: yes,
  still_fenced: yes,
})
export type ObservationDocument = v.InferOutput<typeof observed>

/** Looking once more at what a closure proved. */
export const codehostObserve = contract({
  name: 'codehost.observe',
  input: closedObject({
    job: text, acknowledged_closure_observation: v.optional(v.boolean()),
    expected_read_revision: v.optional(strictInteger(1, Number.MAX_SAFE_INTEGER)),
  }),
  output: observed,
  toDocument: ({ job, closure, connection, ...seen }: Observation) => ({
    job: job.job_id, closure: closure.closure_id, job_state: job.state,
    connection: job.connection_id, repository: job.repository, operation: seen.operationId,
    observed_at: seen.at, read_revision: connection.revision, gets: seen.gets,
    raw_bytes: seen.rawBytes, journals: seen.journals.map(({ sha256 }) => sha256),
    effects: seen.receipts.map((receipt) => ({
      effect: receipt.effect.number, action: receipt.effect.action, path: receipt.get_path,
      remote_id: receipt.effect.remote_id, object_id: receipt.effect.object_id ?? null,
      raw_sha256: receipt.raw_sha256, payload_sha256: receipt.payload_sha256,
      readback: receipt.readback_id,
    })),
    nothing_else_changed: true as const, still_fenced: true as const,
  }),
})

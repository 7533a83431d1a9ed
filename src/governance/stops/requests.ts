/** What had left before a stop, as documents tell it. */
import * as v from 'valibot'
import type { Recorded } from './act.js'
import type { FenceFacts } from '../../state/holds/fence.js'

/** Requests of which something had left before; no more of them leaves. */
export const requestsShape = v.array(v.strictObject({
  operation_id: v.string(), task_id: v.nullable(v.string()),
  sent: v.picklist(['partly', 'wholly']),
}))
export type RequestsDocument = v.InferOutput<typeof requestsShape>

/** What had left before a stop, as a document. */
export const requestsDocument = (sent: readonly FenceFacts[]): RequestsDocument =>
  sent.map(({ operation, task, sent: how }) => ({
    operation_id: operation, task_id: task, sent: how === 'whole' ? 'wholly' : 'partly',
  }))

/** The same of an act that stopped something; empty where there was nothing to stop. */
export const requestsOf = (recorded: Pick<Recorded, 'sent'> | null): RequestsDocument =>
  requestsDocument(recorded?.sent ?? [])

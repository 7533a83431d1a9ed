/** What `edge daemon` tells, one document a line. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, count, counted, iso, nullableText } from '../../base/schema.js'
import { evictionShape, type Eviction } from './spool/evictions.js'
import { countsShape } from './spool/item.js'
import type { SpoolCounts } from './spool/spool.js'

const nameRule = 'must be 1 to 64 letters, digits, spaces, dots, dashes and underscores'

const inputShape = closedObject({
  once: v.optional(v.boolean()),
  /** How the service calls this device; the machine's name unless said. */
  device_name: v.optional(v.pipe(
    v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/, nameRule))),
})
export type DaemonRequest = v.InferOutput<typeof inputShape>

const lineShape = v.strictObject({
  event: v.picklist([
    'paired', 'ready', 'sent', 'aside', 'evicted', 'waiting', 'replaced', 'stopped',
  ]),
  at: iso,
  device_id: nullableText,
  request_id: nullableText,
  sequence: v.nullable(counted),
  artifact_id: nullableText,
  /** Why it lies aside, is tried again, or was not ended by this device. */
  reason: nullableText,
  /** Milliseconds until the next try. */
  wait_ms: v.nullable(count),
  eviction: v.nullable(evictionShape),
  /** What waits, at `ready` and `stopped`. */
  spool: v.nullable(countsShape),
  /** Captures that ever left this device unsent, at `ready`. */
  evictions: v.nullable(count),
})
type DaemonDocument = v.InferOutput<typeof lineShape>

/** What happened to a daemon. */
export type DaemonEvent = { readonly at: string } & (
  | { readonly event: 'paired'; readonly device_id: string }
  | {
    readonly event: 'ready'; readonly device_id: string
    readonly spool: SpoolCounts; readonly evictions: number
  }
  | {
    readonly event: 'sent'; readonly request_id: string
    readonly sequence: number; readonly artifact_id: string
  }
  | { readonly event: 'aside'; readonly request_id: string; readonly reason: string }
  | { readonly event: 'evicted'; readonly eviction: Eviction }
  | {
    readonly event: 'waiting'; readonly request_id: string | null
    readonly reason: string; readonly wait_ms: number
  }
  | { readonly event: 'replaced'; readonly device_id: string; readonly reason: string | null }
  | { readonly event: 'stopped'; readonly spool: SpoolCounts })

const nothing = {
  device_id: null, request_id: null, sequence: null, artifact_id: null, reason: null,
  wait_ms: null, eviction: null, spool: null, evictions: null,
}

/** Sending what waits, until it is told to stop. */
export const edgeDaemon = contract({
  name: 'edge.daemon', input: inputShape, output: lineShape, lines: true,
  toDocument: (told: DaemonEvent): DaemonDocument => ({ ...nothing, ...told }),
})

/**
 * A gateway that refuses is left alone for a while: the next request would get the same, and each
 * one that is tried holds its bound until a person has seen the bill. One row a slot, written in
 * the record that closes the refused call, so that every later process knows of it; the next reply
 * with status 200 takes it away. It keeps jobs and passes back, never what a person asks for.
 */
import * as v from 'valibot'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { count, iso, text } from '../../base/schema.js'
import { waitOf, type RetryAfter } from '../../net/retry-after.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'
import { gatewayLimits, slotNames, type SlotName } from '../constants.js'

/** A reply with another status than 200, or with an error and no charge in its place. */
export interface Refusal {
  readonly status: number
  /** How long it asks to be left alone; null where it does not. */
  readonly retryAfter: RetryAfter | null
}

const pauseShape = v.strictObject({
  slot: v.picklist(slotNames),
  /** The call that was refused last. */
  operation_id: text,
  /** Reason of that call, with its status: `http_status_402`. */
  reason: text,
  status: count,
  /** Refusals since the last reply that was none. */
  refusals: count,
  since: iso,
  /** Not later than `since` where the next request may have a better end. */
  until: iso,
})
/** How long a slot is left alone, and after what. */
export type Pause = v.InferOutput<typeof pauseShape>

export const pauseCollection: CollectionSpec<Pause> = {
  name: 'gateway_pauses', schema: pauseShape, partition: 'one',
}

/** What may be wrong with one request alone; the second in a row says that it is not. */
const ofOneRequest: ReadonlySet<number> = new Set([200, 400, 413, 415, 422])

/** Milliseconds without a request after so many refusals in a row, from 1. Pure. */
export const gapOf = ({ status, retryAfter }: Refusal, refusals: number, nowMs: number): number => {
  const { pauseMsMin, pauseMsMax, retryAfterMsMax } = gatewayLimits
  if (refusals === 1 && ofOneRequest.has(status)) return 0
  const asked = retryAfter === null ? 0 : waitOf(retryAfter, nowMs)
  if (asked > 0) return Math.min(asked, retryAfterMsMax)
  return Math.min(pauseMsMin * 2 ** Math.min(refusals - 1, 30), pauseMsMax)
}

/** Notes how a reply of a slot ended, in the record that closes its call. */
export const notePause = (
  tx: Tx, now: string, slot: SlotName,
  refused: (Refusal & Pick<Pause, 'operation_id' | 'reason'>) | null,
): void => {
  const before = tx.get(pauseCollection, slot)
  if (refused === null) {
    if (before !== undefined) tx.remove(pauseCollection, slot)
    return
  }
  const { operation_id, reason, status } = refused
  const refusals = (before?.refusals ?? 0) + 1
  const nowMs = msFromIso(now)
  tx.put(pauseCollection, slot, {
    slot, operation_id, reason, status, refusals, since: now,
    until: isoFromMs(nowMs + gapOf(refused, refusals, nowMs)),
  })
}

/**
 * The pause of a slot at a wall time, or null. One that would last longer than any can was written
 * under a clock that stood ahead of this one, and holds nobody.
 */
export const pauseOf = (view: Pick<View, 'get'>, slot: SlotName, nowMs: number): Pause | null => {
  const pause = view.get(pauseCollection, slot)
  if (pause === undefined) return null
  const leftMs = msFromIso(pause.until) - nowMs
  return leftMs > 0 && leftMs <= gatewayLimits.retryAfterMsMax ? pause : null
}

/**
 * The pause that this very call left, or null. It ends a pass however short it is: a machine that
 * is slow to write it down must not take its end for leave to go on.
 */
export const pauseLeftBy = (
  view: Pick<View, 'get'>, slot: SlotName, operationId: string,
): Pause | null => {
  const pause = view.get(pauseCollection, slot)
  if (pause?.operation_id !== operationId) return null
  return msFromIso(pause.until) > msFromIso(pause.since) ? pause : null
}

/**
 * Pairings of devices that have ended. Whoever ends one needs to know nothing of what the device
 * sent, so the end is a row of its own: it outlives the device's row, is written with the stop that
 * asked for it, and is carried into every old copy that comes into force.
 */
import * as v from 'valibot'
import { iso, nullableText } from '../base/schema.js'
import { findEach } from '../state/each.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'
import { appendAudit } from './audit.js'
import type { Carrier } from './carrier.js'

const endedShape = v.strictObject({
  ended_at: iso,
  /**
   * `revoked`; `replaced`, by the device itself, which was paired again; or `restored`, where
   * nothing said which pairings still stood.
   */
  reason: v.picklist(['revoked', 'replaced', 'restored']),
  principal: nullableText,
  root: nullableText,
})
export type EndedDevice = v.InferOutput<typeof endedShape>

/** Ids: that of the device; `everyDevice` for all that had been paired by then. */
export const endedDevices: CollectionSpec<EndedDevice> = {
  name: 'edge_ended', schema: endedShape, partition: 'one',
}

/** Id of the row that ends all pairings at once. */
const everyDevice = 'every'

/** What of a pairing tells whether it stands. */
interface PairingMade {
  readonly device_id: string
  readonly paired_at: string
  /** `everyEnd` when it was made. Left out by earlier programs: then times are compared. */
  readonly outlived?: string | null | undefined
}

/** When all pairings of before had ended last; null: never. A pairing that is made notes it. */
export const everyEnd = (view: View): string | null =>
  view.get(endedDevices, everyDevice)?.ended_at ?? null

/** How a pairing ended; undefined while it stands. */
export const endOfDevice = (
  view: View, { device_id: id, paired_at: at, outlived }: PairingMade,
): EndedDevice | undefined => {
  const own = view.get(endedDevices, id)
  if (own !== undefined) return own
  const all = view.get(endedDevices, everyDevice)
  if (all === undefined) return undefined
  // No clock tells before from after: one may have been ahead, or set back since.
  const stands = outlived === undefined ? at > all.ended_at : outlived === all.ended_at
  return stands ? undefined : all
}

/** Ends a pairing, in the marked record of the stop; false for one that has ended. */
export const endDevice = (
  tx: Tx, now: string, deviceId: string,
  by: { readonly principal: string; readonly root: string },
): boolean => {
  if (tx.get(endedDevices, deviceId) !== undefined) return false
  tx.put(endedDevices, deviceId, { ended_at: now, reason: 'revoked', ...by })
  appendAudit(tx, now, { what: 'edge.revoked', ...by, subject: deviceId })
  return true
}

/** Ends a pairing whose own credential asked for it, in a record of its own. */
export const replaceDevice = (tx: Tx, now: string, deviceId: string, owner: string): void => {
  tx.mark()
  tx.put(endedDevices, deviceId, {
    ended_at: now, reason: 'replaced', principal: owner, root: null,
  })
  appendAudit(tx, now, { what: 'edge.replaced', principal: owner, root: null, subject: deviceId })
}

/** Ends every pairing that was made until now: nothing vouches for any of them. */
export const endEveryDevice = (tx: Tx, now: string): void =>
  tx.put(endedDevices, everyDevice, {
    ended_at: now, reason: 'restored', principal: null, root: null,
  })

/** A pairing that had ended goes on telling how, in a copy that does not know it. */
export const carryEndedDevices: Carrier = (tx, _now, former) => {
  const ended = findEach(former, endedDevices, ({ id, doc }) =>
    tx.get(endedDevices, id) === undefined ? [{ id, doc }] : [])
  for (const { id, doc } of ended) tx.put(endedDevices, id, doc)
  return ended.length
}

/**
 * Pairings of devices that have ended. Whoever ends one needs to know nothing of what the device
 * sent, so the end is a row of its own: it outlives the device's row, is written with the stop that
 * asked for it, and is carried into every old copy that comes into force.
 */
import * as v from 'valibot'
import { iso, nullableText } from '../base/fields.js'
import { findEach } from '../state/each.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'
import { appendAudit } from './audit.js'
import type { Carrier } from './narrowings.js'

const endedShape = v.strictObject({
  ended_at: iso,
  /** `revoked`; or `restored`, where nothing said which pairings still stood. */
  reason: v.picklist(['revoked', 'restored']),
  principal: nullableText,
  root: nullableText,
})
/** How a pairing ended. */
export type EndedDevice = v.InferOutput<typeof endedShape>

/** Ids: that of the device; `everyDevice` for all that had been paired by then. */
export const endedDevices: CollectionSpec<EndedDevice> = {
  name: 'edge_ended', schema: endedShape, partition: 'one',
}

/** Id of the row that ends all pairings at once. */
export const everyDevice = 'every'

/** How the pairing of a device that was paired at `pairedAt` ended; undefined while it stands. */
export const endOfDevice = (
  view: View, deviceId: string, pairedAt: string,
): EndedDevice | undefined => {
  const own = view.get(endedDevices, deviceId)
  if (own !== undefined) return own
  const all = view.get(endedDevices, everyDevice)
  return all !== undefined && pairedAt <= all.ended_at ? all : undefined
}

/** Ends a pairing, in the record of the stop; false for one that has ended. */
export const endDevice = (
  tx: Tx, now: string, deviceId: string,
  by: { readonly principal: string; readonly root: string },
): boolean => {
  if (tx.get(endedDevices, deviceId) !== undefined) return false
  tx.mark()
  tx.put(endedDevices, deviceId, { ended_at: now, reason: 'revoked', ...by })
  appendAudit(tx, now, { what: 'edge.revoked', ...by, subject: deviceId })
  return true
}

/** Ends every pairing that was made until now: nothing vouches for any of them. */
export const endEveryDevice = (tx: Tx, now: string): void =>
  tx.put(endedDevices, everyDevice, {
    ended_at: now, reason: 'restored', principal: null, root: null,
  })

/** A pairing that had ended stays so in a copy that does not know it. */
export const carryEndedDevices: Carrier = (tx, _now, former) => {
  const later = findEach(former, endedDevices, ({ id, doc }) => {
    const mine = tx.get(endedDevices, id)
    return mine === undefined || mine.ended_at < doc.ended_at ? [{ id, doc }] : []
  })
  for (const { id, doc } of later) tx.put(endedDevices, id, doc)
  return later.length
}

/**
 * The end of a pairing by itself: a device that was paired again says with the credential of before
 * that it counts no more. A name would prove nothing, since anybody may choose it.
 */
import { nowIso, type Gov } from '../governance/context.js'
import { replaceDevice } from '../governance/devices.js'
import { currentParty, type EdgeParty } from './credential.js'
import type { EdgeDevice } from './edge-rows.js'

/** Ends the pairing whose credential was shown. Throws `unauthorized` where it has ended. */
export const endOwnPairing = (gov: Gov, { device: known }: EdgeParty): Promise<EdgeDevice> =>
  gov.store.transact('edge end', (tx) => {
    const { device } = currentParty(gov, () => tx, known)
    replaceDevice(tx, nowIso(gov), device.device_id, device.owner)
    return device
  })

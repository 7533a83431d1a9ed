/** A paired device with how its pairing ended. */
import { endOfDevice, type EndedDevice } from '../governance/devices.js'
import type { View } from '../state/types.js'
import type { EdgeDevice } from './edge-rows.js'

/** A device and, where its pairing has ended, how. */
export interface DeviceFacts {
  readonly device: EdgeDevice
  readonly ended: EndedDevice | null
}

export const deviceFacts = (view: View, device: EdgeDevice): DeviceFacts => ({
  device, ended: endOfDevice(view, device) ?? null,
})

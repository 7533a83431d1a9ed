/** Paired devices as their operator sees them: a list, and the end of a pairing. */
import { edgeDevices, edgeRevoke } from '../../edge/contract.js'
import { listDevices, revokeDevice } from '../../edge/pairing.js'
import { recoverState } from '../../fabric/recovery.js'
import type { Call, Operation } from '../operation.js'

const revoke = async ({ gov, session, asked: { params } }: Call): Promise<unknown> => {
  const done = await revokeDevice(gov, session, params['device_id'] ?? '')
  if (done.recorded === null || done.recorded.why === null) await recoverState(gov)
  return edgeRevoke.answer(done)
}

/** The operations. */
export const edgeOperations: readonly Operation[] = [
  {
    contract: edgeDevices, method: 'GET', path: '/api/edge/devices',
    summary: 'Your paired devices, newest first.', verb: 'edge list', mode: 'read', body: null,
    status: 200, where: 'here',
    run: async ({ gov, session }) =>
      edgeDevices.answer(listDevices(gov.store.read(), session)),
  },
  {
    contract: edgeRevoke, method: 'POST', path: '/api/edge/devices/{device_id}/revoke',
    summary: 'Ends the pairing of a device, at the next byte of what it sends.',
    verb: 'edge revoke', mode: 'write', body: null, status: 200, where: 'here', run: revoke,
  },
]

/** What an owner takes along of the paired edge: no keyed digest of a code or a credential. */
import { endedDevices } from '../governance/devices.js'
import { own, type Exported, type Taker } from '../governance/exported.js'
import { edgeCollections } from './rows.js'

const isOwnDevice = ({ view, owner }: Taker, deviceId: string): boolean =>
  view.get(edgeCollections.devices, deviceId)?.owner === owner

/** What is given out. */
export const exportedOfEdge: readonly Exported[] = [
  own(edgeCollections.codes, (doc, { owner }) => doc.owner === owner,
    ({ digest: _digest, ...shown }) => shown),
  own(edgeCollections.devices, (doc, { owner }) => doc.owner === owner,
    ({ credential_digest: _digest, ...shown }) => shown),
  own(edgeCollections.artifacts, (doc, { owner }) => doc.owner === owner),
  // Ids: that of the device, a slash, that of the request.
  own(edgeCollections.spent, (_doc, taker, id) => isOwnDevice(taker, id.split('/')[0] ?? '')),
  own(endedDevices, (doc, taker, id) =>
    doc.principal === taker.owner || isOwnDevice(taker, id)),
]

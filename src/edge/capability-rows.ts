/** Rows of the paired edge, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import type { Carrier } from '../governance/carrier.js'
import { endedDevices } from '../governance/devices.js'
import { own, type Exported, type Taker } from '../governance/exported.js'
import { each, findEach } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import { edgeLabel } from './constants.js'
import { limitsOf } from './edge-limits.js'
import { edgeCollections, spentId, type EdgeArtifact, type EdgeDevice } from './edge-rows.js'
import { countArtifacts, verifyEdge } from './verify-edge.js'

const isOwnDevice = ({ view, owner }: Taker, deviceId: string): boolean =>
  view.get(edgeCollections.devices, deviceId)?.owner === owner

/** What is given out. */
const exportedOfEdge: readonly Exported[] = [
  own(edgeCollections.codes, (doc, { owner }) => doc.owner === owner,
    ({ digest: _digest, ...shown }) => shown),
  own(edgeCollections.devices, (doc, { owner }) => doc.owner === owner,
    ({ credential_digest: _digest, ...shown }) => shown),
  own(edgeCollections.artifacts, (doc, { owner }) => doc.owner === owner),
  // Ids: that of the device, a slash, that of the request.
  own(edgeCollections.spent, (_doc, taker, id) => isOwnDevice(taker, id.split('/')[0] ?? '')),
  own(endedDevices, (doc, taker, id) => doc.principal === taker.owner || isOwnDevice(taker, id)),
]

// What an old copy that comes into force must not forget of uploads: sequences and request ids that
// were accepted since stay spent, although their bytes are gone with the state that had them. Open
// pairing codes end, since nothing says whether one was used.

const later = (mine: EdgeDevice, theirs: EdgeDevice): EdgeDevice => {
  const tellsMore = (theirs.spool?.evictions ?? 0) > (mine.spool?.evictions ?? 0)
  return {
    ...mine, last_sequence: Math.max(mine.last_sequence, theirs.last_sequence),
    ...(tellsMore ? { spool: theirs.spool } : {}),
  }
}

const carryCounts = (tx: Tx, former: View): void => {
  for (const { id, doc: theirs } of former.all(edgeCollections.devices)) {
    const mine = tx.get(edgeCollections.devices, id)
    if (mine !== undefined) tx.put(edgeCollections.devices, id, later(mine, theirs))
  }
}

const carrySpent = (tx: Tx, former: View): void => {
  for (const { id, doc } of each(former, edgeCollections.spent)) {
    if (tx.get(edgeCollections.spent, id) === undefined) tx.put(edgeCollections.spent, id, doc)
  }
  for (const { id, doc } of each(former, edgeCollections.artifacts)) {
    const { device_id: device, request_id: request, sequence } = doc
    if (tx.get(edgeCollections.devices, device) === undefined) continue
    if (tx.get(edgeCollections.artifacts, id) !== undefined) continue
    tx.put(edgeCollections.spent, spentId(device, request), { artifact_id: id, sequence })
  }
}

/** Matches no credential: a digest of one has never been it. */
const noCredential = '0'.repeat(64)

/** A device whose row damage took: its uploads are still their owner's, and nothing opens it. */
const lostDevice = (first: EdgeArtifact): EdgeDevice => ({
  device_id: first.device_id, owner: first.owner, name: 'lost', credential_digest: noCredential,
  limits: limitsOf(), last_sequence: 0, last_upload_at: null, stored: { items: 0, bytes: 0 },
  paired_at: first.received_at, outlived: null,
})

/** Puts a row that opens nothing in the place of each that is gone while its uploads are there. */
const standIn = (tx: Tx): void => {
  for (const { doc } of each(tx, edgeCollections.artifacts)) {
    if (tx.get(edgeCollections.devices, doc.device_id) !== undefined) continue
    tx.put(edgeCollections.devices, doc.device_id, lostDevice(doc))
  }
}

/** Rows that damage took are counted no more. */
const countAnew = (tx: Tx): void => {
  const counted = countArtifacts(tx)
  for (const { id, doc } of tx.all(edgeCollections.devices)) {
    const { items, bytes, last } = counted.get(id) ?? { items: 0, bytes: 0, last: 0 }
    const last_sequence = Math.max(doc.last_sequence, last)
    const same = doc.stored.items === items && doc.stored.bytes === bytes
    if (same && last_sequence === doc.last_sequence) continue
    tx.put(edgeCollections.devices, id, { ...doc, last_sequence, stored: { items, bytes } })
  }
}

/** Carries them over, in the record that settles the copy. */
const carryEdge = (tx: Tx, former: View): void => {
  carryCounts(tx, former)
  carrySpent(tx, former)
  standIn(tx)
  countAnew(tx)
}

/** Ends every open code. */
const carryCodes: Carrier = (tx) => {
  const codes = tx.all(edgeCollections.codes)
  for (const { id } of codes) tx.remove(edgeCollections.codes, id)
  return codes.length
}

/** Its collections, what is counted again, and the bytes that its rows name themselves. */
export const edgeRows: CapabilityRows = {
  collections: Object.values(edgeCollections),
  rules: [verifyEdge],
  exported: exportedOfEdge,
  sealed: (view) => findEach(view, edgeCollections.artifacts, ({ doc }) =>
    [{ label: edgeLabel, ref: doc.ref }]),
  carry: carryEdge,
  narrowed: carryCodes,
}

/**
 * What an old copy that comes into force must not forget of uploads: sequences and request ids that
 * were accepted since stay spent, although their bytes are gone with the state that had them. Open
 * pairing codes end, since nothing says whether one was used.
 */
import type { Carrier } from '../governance/narrowings.js'
import { each } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import { edgeCollections, spentId } from './rows.js'
import { countArtifacts } from './verify.js'

const carrySequences = (tx: Tx, former: View): void => {
  for (const { id, doc: theirs } of former.all(edgeCollections.devices)) {
    const mine = tx.get(edgeCollections.devices, id)
    if (mine === undefined || mine.last_sequence >= theirs.last_sequence) continue
    tx.put(edgeCollections.devices, id, { ...mine, last_sequence: theirs.last_sequence })
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
export const carryEdge = (tx: Tx, former: View): void => {
  carrySequences(tx, former)
  carrySpent(tx, former)
  countAnew(tx)
}

/** Ends every open code. */
export const carryCodes: Carrier = (tx) => {
  const codes = tx.all(edgeCollections.codes)
  for (const { id } of codes) tx.remove(edgeCollections.codes, id)
  return codes.length
}

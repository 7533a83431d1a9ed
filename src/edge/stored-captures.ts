/** Stored captures for whoever observes them: what `StoredCaptures` asks, from rows of the edge. */
import { isoFromMs, msFromIso } from '../base/clock.js'
import type { StoredCapture, StoredCaptures } from '../observations/captures.js'
import { rowsOfEntries, rowsUnder, walkIndex } from '../state/indexes.js'
import type { View } from '../state/types.js'
import { endOfDevice } from '../governance/devices.js'
import { collections } from '../governance/rows.js'
import { edgeLabel } from './constants.js'
import {
  artifactsByDevice, devicesByOwner, edgeCollections, type EdgeArtifact, type EdgeDevice,
} from './edge-rows.js'

/** Egress to a cloud and to a model: each is a switch of its own, and both have to be on. */
const allowsBoth = (switches: EdgeArtifact['policy']): boolean =>
  switches.cloud_egress && switches.model_egress

/** A pairing that is not there allows nothing. */
const mayLeave = (device: EdgeDevice | undefined, row: EdgeArtifact): boolean =>
  device !== undefined && allowsBoth(device.limits) && allowsBoth(row.policy)

const captureOf = (row: EdgeArtifact, device: EdgeDevice | undefined): StoredCapture => ({
  artifactId: row.artifact_id, deviceId: row.device_id, deviceName: device?.name ?? '',
  owner: row.owner,
  sequence: row.sequence, receivedAt: row.received_at, bytes: row.ref.bytes,
  mayLeave: mayLeave(device, row),
  // A device may leave the milliseconds out; rows are in the order of whole times.
  capturedAt: isoFromMs(msFromIso(row.captured_at)),
})

function* newestFirst(view: View, deviceId: string): Generator<StoredCapture, void, undefined> {
  const device = view.get(edgeCollections.devices, deviceId)
  const entries = walkIndex(view, edgeCollections.artifacts, artifactsByDevice, {
    under: [deviceId], reverse: true,
  })
  for (const { doc } of rowsOfEntries(view, edgeCollections.artifacts, entries)) {
    yield captureOf(doc, device)
  }
}

/** The shelf. */
export const storedCaptures: StoredCaptures = {
  devicesOf: (view, owner) => rowsUnder(view, edgeCollections.devices, devicesByOwner, {
    under: [owner],
  }).map(({ doc }) => ({
    deviceId: doc.device_id, deviceName: doc.name, lastSequence: doc.last_sequence,
    stands: endOfDevice(view, doc) === undefined, mayLeave: allowsBoth(doc.limits),
  })),
  newestFirst,
  standing: (view, artifactId) => {
    const row = view.get(edgeCollections.artifacts, artifactId)
    if (row === undefined) return null
    const device = view.get(edgeCollections.devices, row.device_id)
    const owner = view.get(collections.principals, row.owner)
    return {
      deviceId: row.device_id, owner: row.owner, sequence: row.sequence, sha256: row.ref.sha256,
      mayLeave: mayLeave(device, row),
      stands: device !== undefined && device.owner === row.owner
        && endOfDevice(view, device) === undefined && owner?.disabled_at === null,
    }
  },
  read: ({ artifacts }, view, artifactId) => {
    const row = view.get(edgeCollections.artifacts, artifactId)
    if (row === undefined) return null
    const reader = artifacts.openStream(edgeLabel, row.ref)
    try {
      const bytes = new Uint8Array(new SharedArrayBuffer(row.ref.bytes))
      let at = 0
      for (const piece of reader.pieces()) {
        bytes.set(piece, at)
        at += piece.length
      }
      return bytes
    } finally {
      reader.close()
    }
  },
}

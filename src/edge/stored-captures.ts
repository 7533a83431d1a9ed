/** Stored captures for whoever observes them: what `StoredCaptures` asks, from rows of the edge. */
import { isoFromMs, msFromIso } from '../base/clock.js'
import type { StoredCapture, StoredCaptures } from '../observations/captures.js'
import { rowsOfEntries, rowsUnder, walkIndex } from '../state/indexes.js'
import type { View } from '../state/types.js'
import { edgeLabel } from './constants.js'
import {
  artifactsByDevice, devicesByOwner, edgeCollections, type EdgeArtifact,
} from './edge-rows.js'

const captureOf = (row: EdgeArtifact, deviceName: string): StoredCapture => ({
  artifactId: row.artifact_id, deviceId: row.device_id, deviceName, owner: row.owner,
  sequence: row.sequence, receivedAt: row.received_at, bytes: row.ref.bytes,
  // A device may leave the milliseconds out; rows are in the order of whole times.
  capturedAt: isoFromMs(msFromIso(row.captured_at)),
})

function* newestFirst(view: View, deviceId: string): Generator<StoredCapture, void, undefined> {
  const name = view.get(edgeCollections.devices, deviceId)?.name ?? ''
  const entries = walkIndex(view, edgeCollections.artifacts, artifactsByDevice, {
    under: [deviceId], reverse: true,
  })
  for (const { doc } of rowsOfEntries(view, edgeCollections.artifacts, entries)) {
    yield captureOf(doc, name)
  }
}

/** The shelf. */
export const storedCaptures: StoredCaptures = {
  devicesOf: (view, owner) => rowsUnder(view, edgeCollections.devices, devicesByOwner, {
    under: [owner],
  }).map(({ doc }) => ({ deviceId: doc.device_id, lastSequence: doc.last_sequence })),
  newestFirst,
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

/**
 * What paired devices stored, as whoever observes it is told: screenshots may not know the edge,
 * nor the edge screenshots, so the layer above hands one to the other.
 */
import type { Store, View } from '../state/types.js'

/** One stored capture; times are ISO text. */
export interface StoredCapture {
  readonly artifactId: string
  readonly deviceId: string
  readonly deviceName: string
  /** Principal id. */
  readonly owner: string
  /** Grows with every capture of its device. */
  readonly sequence: number
  readonly capturedAt: string
  readonly receivedAt: string
  readonly bytes: number
}

/** A device as a place that captures come from. */
export interface CapturingDevice {
  readonly deviceId: string
  /** The highest number that was ever taken of it; 0 before the first. */
  readonly lastSequence: number
}

/** What is asked of the shelf of stored captures. Reads rows and sealed files; writes nothing. */
export interface StoredCaptures {
  /** Devices of an owner, with those whose pairing has ended. */
  devicesOf(view: View, owner: string): readonly CapturingDevice[]
  /** What a device stored, newest first. */
  newestFirst(view: View, deviceId: string): Iterable<StoredCapture>
  /**
   * All bytes of one, in memory that other threads see, each piece verified; null where it is not
   * stored. Throws `damaged` `artifact_damaged`, `blocked` `evidence_missing`.
   */
  read(store: Pick<Store, 'artifacts'>, view: View, artifactId: string): Uint8Array | null
}

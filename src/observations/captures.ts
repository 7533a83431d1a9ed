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
  /** Whether its pairing and its upload each allow egress to a cloud and to a model. */
  readonly mayLeave: boolean
}

/** A stored capture as the rows of the edge have it now, for whoever would send it. */
export interface CaptureStanding {
  readonly deviceId: string
  /** Principal id of the device's owner. */
  readonly owner: string
  readonly sequence: number
  readonly sha256: string
  readonly mayLeave: boolean
  /** Whether its pairing stands and its owner is enabled. */
  readonly stands: boolean
}

/** A device as a place that captures come from. */
export interface CapturingDevice {
  readonly deviceId: string
  readonly deviceName: string
  /** The highest number that was ever taken of it; 0 before the first. */
  readonly lastSequence: number
  /** Whether its pairing stands. */
  readonly stands: boolean
  /** Whether its pairing allows egress to a cloud and to a model. */
  readonly mayLeave: boolean
}

/** What is asked of the shelf of stored captures. Reads rows and sealed files; writes nothing. */
export interface StoredCaptures {
  /** Devices of an owner, with those whose pairing has ended. */
  devicesOf(view: View, owner: string): readonly CapturingDevice[]
  /** What a device stored, newest first. */
  newestFirst(view: View, deviceId: string): Iterable<StoredCapture>
  /** How a capture stands now; null where it is not stored. */
  standing(view: View, artifactId: string): CaptureStanding | null
  /**
   * All bytes of one, in memory that other threads see, each piece verified; null where it is not
   * stored. Throws `damaged` `artifact_damaged`, `blocked` `evidence_missing`.
   */
  read(store: Pick<Store, 'artifacts'>, view: View, artifactId: string): Uint8Array | null
}

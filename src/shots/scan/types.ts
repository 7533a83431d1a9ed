/** What passes between the parts of a scan. */
import type { CompareJob } from '../../images/compare-job.js'
import type {
  Examined, Fingerprint, ImageFormat, PictureComparison, PixelRect,
} from '../../images/types.js'
import type { AnalysisStatus } from '../constants.js'
import type { FileName, Observation } from '../observations/observation-rows.js'
import type { ExactFacts } from './same-file.js'
import type { FileStamp } from './walk.js'

/** Looks into images somewhere else than in this thread. */
export interface Examiner {
  /** Hash, facts and fingerprint of one buffer; the caller uses the buffer no more. */
  examine(bytes: Uint8Array): Promise<Examined>
  /** Compares a picture with the one that stands for others; both are images that were taken. */
  compare(job: CompareJob): Promise<PictureComparison>
  close(): Promise<void>
}

/**
 * What two whole pictures were found to be: the file's, whose hash stands beside it, and the
 * representative's. It holds for these two contents, and for what was ignored of them.
 */
export interface Confirmation {
  /** SHA-256 of the representative's bytes; null: it stands for any, and confirms nothing. */
  readonly representativeSha256: string | null
  /** `representative_gone`: no recorded path holds its bytes any more. */
  readonly verdict: PictureComparison['verdict'] | 'representative_gone'
  readonly difference: number | null
  /** Digest of the areas that did not count; null where every pixel did. */
  readonly ignoredSha256: string | null
  /** The small rectangle that holds whatever differs and counts, where one does. */
  readonly region?: PixelRect
}

/** A file that was read once and looked into; nothing about it is decided yet. */
export interface TakenFile extends ExactFacts {
  /** Its number in the walk. */
  readonly file: number
  readonly name: FileName
  /** As a walk would see the file that was read. */
  readonly stamp: FileStamp
  /** ISO text of the modification time. */
  readonly capturedAt: string
  readonly inFuture: boolean
  /** Null where the bytes were not read. */
  readonly sha256: string | null
  readonly format: ImageFormat | null
  readonly width: number | null
  readonly height: number | null
  readonly fingerprint: Fingerprint | null
  /** Why it is no image that is taken in; null when it is one. */
  readonly refused: string | null
  /** Why there is no fingerprint of an image that is taken in. */
  readonly flaw: string | null
  /** Null where nothing was compared yet. */
  readonly confirmed: Confirmation | null
}

/** The image that the next one is compared with. */
export interface Representative<R = Observation> {
  readonly row: R
  readonly fingerprint: Fingerprint | null
}

/** How a new image begins. */
export interface NewStatus {
  readonly analysis_status: AnalysisStatus
  readonly reason: string | null
}

/** What a file became: exactly one of these. */
export type FileOutcome = 'ingested' | 'duplicate' | 'suppressed' | 'rejected' | 'deferred'

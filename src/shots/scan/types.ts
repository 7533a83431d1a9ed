/** What passes between the parts of a scan. */
import type { Examined, Fingerprint, ImageFormat } from '../../images/types.js'
import type { AnalysisStatus } from '../constants.js'
import type { FolderSource } from '../source/folder.js'
import type { FileName, Observation } from '../observations/rows.js'
import type { ExactFacts } from './same-file.js'
import type { FileStamp } from './walk.js'

/** Looks into images somewhere else than in this thread. */
export interface Examiner {
  /** Hash, facts and fingerprint of one buffer; the caller uses the buffer no more. */
  examine(bytes: Uint8Array): Promise<Examined>
  close(): Promise<void>
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
}

/** The image that the next one is compared with. */
export interface Representative {
  readonly row: Observation
  readonly fingerprint: Fingerprint | null
}

/** How a new image begins. */
export interface NewStatus {
  readonly analysis_status: AnalysisStatus
  readonly reason: string | null
}

/** What a file became: exactly one of these. */
export type FileOutcome = 'ingested' | 'duplicate' | 'suppressed' | 'rejected' | 'deferred'

/** A file that needs a word: why it was put off, refused, or taken in without being looked into. */
export interface ScanProblem {
  readonly name: FileName
  readonly reason: string
}

/** Receipt of one scan; every file of the folder is in exactly one of the five counts. */
export interface ScanReceipt {
  /** Null where nothing durable was written: see `recorded`. */
  readonly receipt_id: string | null
  readonly number: number | null
  /** False for a tick that found nothing new, and where the receipt could not be written. */
  readonly recorded: boolean
  readonly job: 'screenshot_folder_ingest'
  readonly at: string
  readonly root: string
  readonly source: FolderSource
  readonly status: 'ok' | 'degraded'
  /** Why it is degraded. */
  readonly reason: string | null
  readonly limit: number
  readonly scanned: number
  readonly ingested: number
  readonly duplicate: number
  readonly suppressed: number
  readonly rejected: number
  readonly deferred: number
  /** Of the duplicates: files that were known and not read again. */
  readonly known: number
  /** How many files each reason is about. */
  readonly reasons: Readonly<Record<string, number>>
  /** The first files of `reasons`, named. */
  readonly problems: readonly ScanProblem[]
  readonly problems_left_out: number
  readonly duration_ms: number
}

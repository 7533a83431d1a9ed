/** Names and limits of the producer, each once. Bytes and milliseconds where not said otherwise. */

/** What an execution as the user of the host may claim about isolation: nothing (C-271). */
export const isolationClaim = 'none'
/** Contract by which what a producer leaves behind is read (C-289). */
export const recoveryContract = 'V3'

/** Limits of a producer. */
export const producerLimits = {
  /** From the start record to the proof of quiescence, on the monotonic clock (C-081). */
  wallMs: 30_000,
  /** What is left of it for reaping once git is stopped. */
  reapMs: 3_000,
  /** How long the supervisor waits for what it must know before it starts anything. */
  admitMs: 30_000,
  filesMax: 2_000,
  fileBytesMax: 2 * 1024 * 1024,
  manifestBytesMax: 64 * 1024 * 1024,
  /** One line of git: an id and its end. */
  lineBytes: 41,
  /** A start record or marker. */
  recordBytesMax: 64 * 1024,
  /** Files in a stage, and how large one may be: the helper is the largest. */
  stageFilesMax: 100_000,
  stageFileBytesMax: 16 * 1024 * 1024,
} as const

/** Names within a stage. */
export const stageNames = {
  helper: 'helper.cjs', binding: 'binding.json', start: 'start.json',
} as const

/** Before the name of a marker that is not whole yet. */
export const temporaryMark = '.tmp-'

const markerForm = /^marker\.([0-9a-f]{64})\.json$/

/** Name of a marker by the SHA-256 of its bytes. */
export const markerName = (sha256: string): string => `marker.${sha256}.json`

/** The SHA-256 that a marker's name says; null for another name. */
export const markerDigest = (name: string): string | null => markerForm.exec(name)?.[1] ?? null

/** The pipe through which git reads, from a stage's folder: `<state>/stages/<job>` to `run`. */
export const fifoFromStage = (jobId: string): string => `../../run/${jobId}.fifo`

/** Descriptors of the supervisor besides its standard ones. */
export const guardFd = 3

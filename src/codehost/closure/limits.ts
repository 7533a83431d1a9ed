/** Limits of closing capacity, each once; milliseconds and bytes (C-057, C-228, C-231 to C-234). */

/** What reading the evidence of one closure may take. */
export interface ReadLimits {
  /** From the one snapshot of the rows to the last byte of the last reply. */
  readonly windowMs: number
  readonly getsMax: number
  /** Bytes of all replies together, as they came. */
  readonly rawBytesMax: number
  /** Bytes of one reply. */
  readonly replyBytesMax: number
}

/** Of a follow-through job: also of each later look at it. */
export const followReadLimits: ReadLimits = {
  windowMs: 120_000, getsMax: 4, rawBytesMax: 4_194_304, replyBytesMax: 1_048_576,
}

/** Of requests and of what is kept. */
export const closureLimits = {
  /** A request as it comes in, spaces included. */
  requestBytesMax: 65_536,
  /** A request as an inspector takes it, as it was given, encoding included (C-134). */
  inspectCharsMax: 2_048,
  /** A kept request. */
  pendingBytesMax: 8_192,
  /** The sealed account of a closure, as it is stored (C-057). */
  artifactBytesMax: 262_144,
} as const

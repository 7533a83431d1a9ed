/** Limits of requests to close and of what is kept of them, bytes (C-057, C-134). */
/** Each once. */
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

/** Every limit of looking into images; the unit is the last word of the name. */
export const imageLimits = {
  bytesMax: 20_000_000,
  pixelsMax: 64_000_000,
  /** Side of a fingerprint's cell: that of a JPEG's block. Larger ones hide a faint word. */
  cellPixels: 8,
  /** Longest time one image may take before its worker is ended. */
  examineMsMax: 10_000,
  workersMax: 4,
  /** Images that wait for a worker. */
  waitingMax: 64,
  workerHeapMegabytesMax: 256,
} as const

/** Largest cell difference, in levels of 255, that still counts as the same picture. */
export const visualLimit = 3

/** Fixed point of a cell's average. */
export const levelScale = 64

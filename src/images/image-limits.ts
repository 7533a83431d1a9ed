/** Every limit of looking into images; the unit is the last word of the name. */
export const imageLimits = {
  bytesMax: 20_000_000,
  pixelsMax: 64_000_000,
  /** Side of a fingerprint's cell: that of a JPEG's block. Larger ones hide a faint word. */
  cellPixels: 8,
  /** Longest time one image may take before its worker is ended. */
  examineMsMax: 10_000,
  /** So often it is given that time again where the process had hardly a processor meanwhile. */
  examineMoreMax: 5,
  workersMax: 4,
  /** Images that wait for a worker. */
  waitingMax: 64,
  workerHeapMegabytesMax: 256,
  /** One picture that is decoded: the rows of a PNG, or the coefficients of a JPEG. */
  decodedBytesMax: 256 * 1024 * 1024,
  /** A larger picture is not held for the next comparison. */
  heldBytesMax: 64 * 1024 * 1024,
} as const

/** Largest cell difference, in levels of 255, up to which two pictures are worth comparing. */
export const visualLimit = 3

/** Largest difference of a channel of any pixel between repeats of a PNG, in levels of 255. */
export const pixelLimit = 2

/** Part of a picture that one rectangle may be, so that a change within it is a small one. */
export const smallChangeShare = 0.02

/** Fixed point of a cell's average. */
export const levelScale = 64

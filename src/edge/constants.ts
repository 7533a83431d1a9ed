/** Numbers and names of the paired edge, in one place. */

/** Its field in what spans capabilities. */
export const edgeName = 'edge'

/** Record type that what devices send is sealed under. */
export const edgeLabel = 'svc.edge.capture.v1'

/** What a pairing's credential opens, and nothing else (S-195). */
export const edgeScope = ['edge.upload', 'edge.read'] as const

/** What may be sent; told by the bytes, and the same as was declared. */
export const edgeMimes = ['image/png', 'image/jpeg'] as const

/** Limits of the store's side. */
export const edgeLimits = {
  /** One upload, bytes. */
  artifactBytesMax: 20 * 1024 * 1024,
  /** Longest time for the body of one, there or back, ms. */
  artifactMsMax: 110_000,
  /** Everything that one pairing may store, bytes: unless it was paired with less or more. */
  bytesDefault: 5 * 1024 ** 3,
  bytesMax: 1024 ** 4,
  itemsDefault: 100_000,
  itemsMax: 1_000_000,
  /** Life of a pairing code, ms. */
  codeMs: 10 * 60_000,
  /** Codes that are open at once. */
  codesMax: 8,
  /** Pairings that stand at once. */
  devicesMax: 64,
  nameCharsMax: 64,
  sourceBytesMax: 256,
  sourcePathBytesMax: 4096,
  pageDefault: 100,
  pageMax: 1_000,
} as const

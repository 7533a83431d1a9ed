/** Everything that is wanted of one buffer: hash, facts and fingerprint, from the same bytes. */
import { createHash } from 'node:crypto'
import { readImageFacts } from './facts.js'
import { jpegFingerprint } from './jpeg.js'
import { pngFingerprint } from './png.js'
import { ImageProblem } from './problem.js'
import type { Examined, Fingerprint, ImageFormat, ImageReason } from './types.js'
import { decodeWholeJpeg } from './whole-decode.js'

const fingerprintOf = (format: ImageFormat, bytes: Uint8Array): Fingerprint =>
  format === 'png' ? pngFingerprint(bytes) : jpegFingerprint(bytes) ?? decodeWholeJpeg(bytes)

/**
 * Looks into one buffer. Never throws for any bytes: what cannot be looked into has a reason, and
 * hash and facts all the same.
 */
export const examine = (bytes: Uint8Array): Examined => {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const facts = readImageFacts(bytes)
  const without = (reason: ImageReason): Examined => ({ sha256, facts, fingerprint: null, reason })
  if (facts.reason !== null || facts.format === null) return without(facts.reason ?? 'not_an_image')
  if (facts.width === null) return without('header_damaged')
  try {
    return { sha256, facts, fingerprint: fingerprintOf(facts.format, bytes), reason: null }
  } catch (error) {
    if (error instanceof ImageProblem) return without(error.reason)
    // Memory that cannot be had ends one image, not the scan.
    if (error instanceof RangeError) return without('decode_failed')
    throw error
  }
}

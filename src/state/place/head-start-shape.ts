/** How a head start is named, in an invitation and where it was made; see `head-start.ts`. */
import * as v from 'valibot'
import { count, sha256 } from '../../base/schema.js'

/** What names one: where it stands, and the pack at the place. */
export const headStartShape = v.strictObject({
  sequence: count,
  /** The keyed link behind that record, hex. */
  link: sha256,
  stored_sha256: sha256,
  sha256,
  bytes: count,
})
/** See above. */
export type HeadStart = v.InferOutput<typeof headStartShape>

import { createHash } from 'node:crypto'

/** A digest in hex that owes nothing to the program's own. */
export const sha256 = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

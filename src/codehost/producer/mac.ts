/** Records that only somebody who has a producer's token can have written. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '../../base/canonical.js'

/** HMAC-SHA-256 of a record's other members under the token. */
export const macOf = (token: string, record: object): string =>
  createHmac('sha256', token).update(canonicalJson({ ...record, mac: undefined })).digest('hex')

/** Whether a record was written by whoever has the token. */
export const isOwnRecord = (token: string, record: { readonly mac: string }): boolean =>
  timingSafeEqual(Buffer.from(macOf(token, record)), Buffer.from(record.mac))

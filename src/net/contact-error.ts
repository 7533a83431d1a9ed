import { SallyportError, type ErrorDetails, type ErrorKind } from '../base/errors.js'
import type { ContactProof, HttpsReply } from './types.js'

/** Why a request ended without a reply that may be used. */
export type ContactCode =
  | 'url_refused'
  | 'pin_refused'
  | 'method_refused'
  | 'header_refused'
  | 'request_too_large'
  | 'debug_output_refused'
  | 'dns_failed'
  | 'address_refused'
  | 'connect_failed'
  | 'tls_failed'
  | 'timeout'
  | 'cancelled'
  | 'reset'
  | 'truncated'
  | 'reply_malformed'
  | 'reply_too_large'
  | 'encoding_refused'

const kinds: Partial<Record<ContactCode, ErrorKind>> = {
  url_refused: 'rejected',
  pin_refused: 'rejected',
  method_refused: 'rejected',
  header_refused: 'rejected',
  request_too_large: 'rejected',
  debug_output_refused: 'rejected',
  cancelled: 'cancelled',
}

/**
 * A request that ended without a usable reply. `contact` says whether a byte of the request may
 * have left. Kind `rejected` for a request that was never tried, `cancelled` for an aborted one,
 * `remote` for the rest. Holds limits, the host and error names of the system; never a URL path, a
 * header value or a body, and no `cause`, because causes of the HTTP parser carry received bytes.
 */
export class ContactError extends SallyportError {
  readonly contact: ContactProof
  declare readonly code: ContactCode

  constructor(
    code: ContactCode,
    contact: ContactProof,
    message: string,
    details: ErrorDetails = {},
    next?: string,
  ) {
    super({
      kind: kinds[code] ?? 'remote',
      code,
      message,
      details: { ...details, contact },
      ...(next === undefined ? {} : { next }),
    })
    this.name = 'ContactError'
    this.contact = contact
  }
}

/** What is known about errors that callbacks of the caller threw. */
const proofs = new WeakMap<object, ContactProof>()

/** Remembers the proof for an error that goes on as it is. The first proof stands. */
export const noteContact = (error: unknown, contact: ContactProof): void => {
  if (error instanceof ContactError || typeof error !== 'object' || error === null) return
  if (!proofs.has(error)) proofs.set(error, contact)
}

/**
 * Whether the request that failed with this error may have reached the other side. An error that
 * the client has not seen gives `possible`: only proof releases a hold.
 */
export const contactOf = (error: unknown): ContactProof => {
  if (error instanceof ContactError) return error.contact
  if (typeof error !== 'object' || error === null) return 'possible'
  return proofs.get(error) ?? 'possible'
}

/** Heads of replies whose bodies are of no use: beside the errors, for they are received bytes. */
const heads = new WeakMap<object, HttpsReply>()

/** Remembers which reply an error is about, as one without a body. Answers the error. */
export const noteHead = (error: unknown, head: HttpsReply | null): unknown => {
  if (head !== null && error instanceof ContactError) heads.set(error, head)
  return error
}

/**
 * The reply that the error is about, without its body, which was refused or cut off: another status
 * than 200 says what it says all the same. Null for 200, and where no whole head had come.
 */
export const refusedBy = (error: unknown): HttpsReply | null => {
  const head = error instanceof ContactError ? heads.get(error) : undefined
  return head === undefined || head.status === 200 ? null : head
}

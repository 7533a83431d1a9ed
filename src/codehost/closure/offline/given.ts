/**
 * A receipt as somebody keeps it in a file: canonical JSON of one of two shapes, at most one line
 * end behind it. Any other bytes are refused, so that no two files say the same.
 */
import * as v from 'valibot'
import { canonicalJson } from '../../../base/canonical.js'
import { fail, SallyportError } from '../../../base/errors.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import { sealedReceiptShape, type ReceiptRow } from '../../jobs/receipt.js'
import { closureReceiptShape, type ClosureReceipt } from '../../jobs/closed/receipt-shape.js'

/** Names the document that a sealed readback is kept as. */
const sealedReadSchema = 'svc.codehost.sealed-read-receipt.v1'

const sealedReadShape = v.strictObject({
  schema: v.literal(sealedReadSchema), ...sealedReceiptShape.entries,
})

/** Receipts that can be verified. */
type GivenReceipt =
  | { readonly kind: 'closure'; readonly receipt: ClosureReceipt }
  | { readonly kind: 'read'; readonly row: ReceiptRow }

/** Limits of a kept receipt; one of a closure names all its journals. */
export const givenLimits = { bytesMax: 1_048_576, depthMax: 6 } as const

const lineEnd = 0x0a

const refused = (reason: string, cause?: unknown): SallyportError => fail.rejected(
  'receipt_invalid', 'This is no receipt, or not byte for byte the one that was printed.', {
    reason, cause,
    next: 'Print it anew into a file: `sallyport codehost recover closures CLOSURE --receipt`, or '
      + '`sallyport codehost jobs JOB --readback ID`.',
  },
)

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return parseStrictJson(bytes, givenLimits)
  } catch (error) {
    throw refused(error instanceof SallyportError ? error.code : 'not_json', error)
  }
}

/** The canonical text of a sealed readback, as it is printed and kept. */
export const sealedReadText = (row: ReceiptRow): string =>
  canonicalJson({ schema: sealedReadSchema, ...row })

/** Reads a kept receipt. Throws `rejected` `receipt_invalid`. */
export const givenReceipt = (bytes: Uint8Array): GivenReceipt => {
  const whole = Buffer.from(bytes)
  const text = whole.at(-1) === lineEnd ? whole.subarray(0, -1) : whole
  const value = parsed(text)
  const closure = v.safeParse(closureReceiptShape, value)
  const read = v.safeParse(sealedReadShape, value)
  if (!closure.success && !read.success) throw refused('unknown_shape')
  if (!text.equals(Buffer.from(canonicalJson(value)))) throw refused('not_canonical')
  if (closure.success) return { kind: 'closure', receipt: closure.output }
  if (!read.success) throw refused('unknown_shape')
  const { readback_id, job_id, receipt, journal, seal } = read.output
  return { kind: 'read', row: { readback_id, job_id, receipt, journal, seal } }
}

import { fail } from '../../base/errors.js'

/** Largest bound and largest ceiling, micro-USD: one thousand dollars. */
export const amountMicrousdMax = 1_000_000_000

/** Most UTF-8 bytes of an operation id, and of a profile or principal name in a row. */
const operationIdBytesMax = 256

/** Most policy rechecks that one operation may write, so that no loop can fill the ledger. */
export const rechecksPerOperationMax = 16

/** Most bytes of a row's evidence in canonical JSON. */
export const evidenceBytesMax = 4096

const surrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** Refuses a name that is empty, over 256 UTF-8 bytes, or has no UTF-8 form at all. */
export const checkName = (what: string, value: string): void => {
  const bytes = Buffer.byteLength(value, 'utf8')
  if (bytes >= 1 && bytes <= operationIdBytesMax && !surrogate.test(value)) return
  throw fail.rejected(
    `${what}_invalid`,
    `The ${what.replaceAll('_', ' ')} must be 1 to ${operationIdBytesMax} bytes of UTF-8.`,
    { details: { bytes, bytes_max: operationIdBytesMax } },
  )
}

/** Refuses an amount that is not an integer of `min` to `max` micro-USD. */
export const checkAmount = (what: string, value: number, min: number, max: number): void => {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw fail.rejected(
    `${what}_out_of_range`,
    `The ${what.replaceAll('_', ' ')} must be an integer of ${min} to ${max} micro-USD.`,
    { details: { min, max } },
  )
}

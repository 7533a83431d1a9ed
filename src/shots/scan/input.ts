/** What a caller may say of one scan: a closed shape, so that legacy names are refused (S-176). */
import * as v from 'valibot'
import { closedObject, parseClosed, strictInteger } from '../../base/schema.js'
import { shotLimits } from '../constants.js'

/** The fields of scan input (S-172 to S-174). */
export const scanInputShape = closedObject({
  screenshot_folder: v.optional(v.pipe(v.string(), v.minLength(1))),
  limit: v.optional(strictInteger(1, shotLimits.ingestImagesMax)),
})
export type ScanInput = v.InferOutput<typeof scanInputShape>

/**
 * Reads scan input out of parsed JSON; no body at all (`undefined`) is an empty one. Throws
 * `rejected` `scan_input_invalid` for anything but an object of these two fields.
 */
export const parseScanInput = (value: unknown): ScanInput =>
  value === undefined ? {} : parseClosed(scanInputShape, value, {
    code: 'scan_input_invalid', what: 'the scan input',
  })

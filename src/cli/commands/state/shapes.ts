/** Shapes that the state verbs print in common. */
import * as v from 'valibot'

/** One finding. */
export const problemShape = v.strictObject({
  code: v.string(),
  severity: v.picklist(['damage', 'blocked', 'torn', 'notice']),
  message: v.string(),
  subject: v.optional(v.string()),
})

/** How the anchor outside the store compares with it. */
export const anchorShape = v.picklist(['ok', 'behind', 'forked', 'missing', 'forged'])

/** An integer that counts something. */
export const countShape = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

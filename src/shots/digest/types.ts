/** What a pass of the digest job tells: its windows with the episodes that stand for them. */
import * as v from 'valibot'
import { digestEntries, windowEntries } from '../receipts/digest.js'
import { episodeShape } from './digest-rows.js'

const windowShape = v.strictObject({
  ...windowEntries,
  /** The episode that stands for the window now, new or old; null when there is none. */
  episode: v.nullable(episodeShape),
})
/** One window of a tick. */
export type WindowResult = v.InferOutput<typeof windowShape>

/** Receipt of the job `screenshot_observation_digest`: the episodes that it wrote (S-142). */
export const digestReceiptShape = v.strictObject({
  /** Null where the job is switched off or the receipt could not be recorded. */
  receipt_id: v.nullable(v.string()),
  ...digestEntries,
  /** At most four; those that asked for work come first. */
  windows: v.array(windowShape),
})
export type DigestReceipt = v.InferOutput<typeof digestReceiptShape>

/** Analyses under way: few rows, each gone in the record that ends its call. */
import * as v from 'valibot'
import { nullableText } from '../../base/schema.js'
import type { CollectionSpec } from '../../state/types.js'
import { analysisStatuses } from '../constants.js'

const runningShape = v.strictObject({
  observation_id: v.string(),
  input_digest: v.string(),
  operation_id: v.string(),
  /** The observation as it was before the claim: what it goes back to when nothing was sent. */
  before: v.strictObject({
    analysis_status: v.picklist(analysisStatuses),
    reason: nullableText,
    detail: nullableText,
    contact: v.picklist(['none', 'ended', 'uncertain']),
    /** Of the call before, which the row goes on telling; rows of an earlier version have none. */
    operation_id: v.optional(nullableText),
    input_digest: v.optional(nullableText),
  }),
})
/** One analysis under way, or of a process that died. */
export type RunningAnalysis = v.InferOutput<typeof runningShape>

/** By observation id. */
export const runningCollection: CollectionSpec<RunningAnalysis> = {
  name: 'shot_analyses_running', schema: runningShape, partition: 'one',
}

import * as v from 'valibot'
import { command, nullableSentence, sentence } from './told.js'

/** Name of the schema of every failure. */
export const errorSchemaName = 'sallyport.error.v1'

/** A command that helps. */
export const nextStepShape = v.strictObject({
  /** The whole line, beginning with `sallyport`. */
  command,
  /** A person has to decide, to give a secret or to fill in a word. */
  needs_person: v.boolean(),
})

/** The body of a failure: the last line of stderr with `--json`, and the service's answer. */
export const errorBodyShape = v.strictObject({
  error: v.strictObject({
    /** Stable name that scripts match. */
    code: v.string(),
    message: sentence,
    /** A finer stable name. */
    reason: v.nullable(v.string()),
    /** HTTP status; 207 where part was done. */
    status: v.pipe(v.number(), v.safeInteger(), v.minValue(207), v.maxValue(599)),
    details: v.record(v.string(), v.nullable(v.union([v.string(), v.number(), v.boolean()]))),
    /** What helps, in one sentence; commands stand between backticks in it. */
    hint: nullableSentence,
    /** The commands of the hint, in order; empty where none helps. */
    next: v.array(nextStepShape),
  }),
})

import * as v from 'valibot'

/** Name of the schema of every failure. */
export const errorSchemaName = 'sallyport.error.v1'

/** The body of a failure: the last line of stderr with `--json`, and the service's answer. */
export const errorBodyShape = v.strictObject({
  error: v.strictObject({
    /** Stable name that scripts match. */
    code: v.string(),
    message: v.string(),
    /** A finer stable name. */
    reason: v.nullable(v.string()),
    /** HTTP status; 207 where part was done. */
    status: v.pipe(v.number(), v.safeInteger(), v.minValue(207), v.maxValue(599)),
    details: v.record(
      v.string(), v.nullable(v.union([v.string(), v.number(), v.boolean()])),
    ),
  }),
})

/** What comes out of explaining an id. No content, no key, no question. */
import * as v from 'valibot'
import { command, sentence } from '../../base/told.js'
import { contract } from '../../base/contract.js'
import { closedObject, nullableText, text } from '../../base/schema.js'

const factShape = v.union([v.string(), v.number(), v.boolean(), v.null()])

const eventShape = v.strictObject({
  at: text,
  /** What happened: by the rows a word or two, by the audit its dotted name. */
  what: text,
  /** Name of who did it; null where it was nobody, or no audit tells. */
  by: nullableText,
  /** The row of the audit; null where the row of the id tells it. */
  audit: nullableText,
  facts: v.record(text, factShape),
})
export type HistoryEvent = v.InferOutput<typeof eventShape>

const explainedShape = v.strictObject({
  /** What it is, in words of ours: `task`, `job of the code host`. */
  kind: text,
  state: nullableText,
  /** How it stands, one sentence. */
  text: sentence,
  facts: v.record(text, factShape),
  /** Other ids that belong to it; each can be explained, too. */
  related: v.array(text),
  /** What happened, oldest first. */
  history: v.array(eventShape),
  /** False where older or newer rows of the audit were not looked through. */
  history_whole: v.boolean(),
  /** What can be done, the best first. */
  next: v.array(command),
})
/** What one collection says of an id. */
export type ExplainedRow = v.InferOutput<typeof explainedShape>

/** An id, and what each collection says that has it. */
export interface ExplainedId {
  readonly id: string
  readonly rows: readonly ExplainedRow[]
}

/** Explaining an id, whole or short. */
export const explainId = contract({
  name: 'explain',
  input: closedObject({ id: v.string() }),
  output: v.strictObject({
    id: text,
    /** At least one; several where more than one collection has the id. */
    rows: v.pipe(v.array(explainedShape), v.minLength(1)),
  }),
  toDocument: ({ id, rows }: ExplainedId) => ({ id, rows: [...rows] }),
})

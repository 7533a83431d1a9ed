/** A session as scripts see it. */
import * as v from 'valibot'
import { fieldLines } from '../../text.js'

const nullableText = v.nullable(v.string())

/** Shape of a session in JSON output; fields are only ever added. */
export const sessionFactsShape = v.strictObject({
  id: v.string(),
  principal: v.string(),
  issued_at: v.string(),
  last_use_at: v.string(),
  idle_expires_at: v.string(),
  expires_at: v.string(),
  ended_at: nullableText,
  ended_reason: nullableText,
  live: v.boolean(),
})
/** A session in JSON output. */
export type SessionFactsJson = v.InferOutput<typeof sessionFactsShape>

/** One word for how a session stands. */
export const sessionState = ({ live, ended_reason }: SessionFactsJson): string =>
  live ? 'live' : ended_reason === null ? 'expired' : `ended (${ended_reason})`

/** The same as lines of text. */
export const sessionText = (facts: SessionFactsJson): string => fieldLines([
  ['session', facts.id],
  ['owner', facts.principal],
  ['state', sessionState(facts)],
  ['opened', facts.issued_at],
  ['last use', facts.last_use_at],
  ['idle until', facts.idle_expires_at],
  ['expires', facts.expires_at],
])

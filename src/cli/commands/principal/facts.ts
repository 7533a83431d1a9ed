/** An owner as scripts see it. */
import * as v from 'valibot'
import { fieldLines } from '../../text.js'

/** Shape of an owner in JSON output; fields are only ever added. */
export const principalFactsShape = v.strictObject({
  id: v.string(),
  name: v.string(),
  has_passphrase: v.boolean(),
  created_at: v.string(),
  disabled_at: v.nullable(v.string()),
})
/** An owner in JSON output. */
export type PrincipalFactsJson = v.InferOutput<typeof principalFactsShape>

/** One word for how an owner stands. */
export const principalState = ({ disabled_at }: PrincipalFactsJson): string =>
  disabled_at === null ? 'enabled' : 'disabled'

/** The same as lines of text. */
export const principalText = (facts: PrincipalFactsJson): string => fieldLines([
  ['owner', facts.name],
  ['id', facts.id],
  ['state', principalState(facts)],
  ['passphrase', facts.has_passphrase ? 'yes' : 'none'],
])

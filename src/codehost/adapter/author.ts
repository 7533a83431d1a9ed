/** Whose a token is, asked once when a consent is given: what it makes has this author. */
import { orUndefined } from '../../governance/judge/fact.js'
import type { Author } from '../../governance/connections/rows.js'
import type { HttpsReply } from '../../net/types.js'
import { readReply } from '../replies/read.js'
import { isLimited } from './refusal.js'
import { refusalOf, refusedAs, type Refused } from './repository-reply.js'

/** A judged reply. `none`: a token of an installation or a workflow may not ask that. */
export type AuthorVerdict =
  | { readonly kind: 'told'; readonly author: Author }
  | { readonly kind: 'none' }
  | Refused

/** What a token begins with that an app was given by a person. */
const appPrefix = 'ghu_'

/** Whether what a token makes is told as made by an app for its account. */
export const isViaApp = (token: Uint8Array): boolean =>
  Buffer.from(token.subarray(0, appPrefix.length)).toString('latin1') === appPrefix

/** Judges the reply to the question whose a token is. Total. */
export const judgeAuthor = (reply: HttpsReply, viaApp: boolean): AuthorVerdict => {
  const { status } = reply
  if ((status === 403 || status === 404) && !isLimited(reply)) return { kind: 'none' }
  const code = refusalOf(reply)
  if (code !== null) return refusedAs(code, reply)
  const told = orUndefined(() => readReply('user', reply.body))
  return told === undefined ? refusedAs('codehost_reply', reply)
    : { kind: 'told', author: { id: told.id, via_app: viaApp } }
}

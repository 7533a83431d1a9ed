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

/** What a token begins with that an app was given by a person, and that is an installation's. */
const prefixes = { app: 'ghu_', installation: 'ghs_' } as const

const begins = (token: Uint8Array, prefix: string): boolean =>
  Buffer.from(token.subarray(0, prefix.length)).toString('latin1') === prefix

/** Whether what a token makes is told as made by an app for its account. */
export const isViaApp = (token: Uint8Array): boolean => begins(token, prefixes.app)

/** Whether a token is of an installation or a workflow, whose account others share. */
export const isShared = (token: Uint8Array): boolean => begins(token, prefixes.installation)

/** Judges the reply to the question whose a token is. Total. */
export const judgeAuthor = (reply: HttpsReply, viaApp: boolean): AuthorVerdict => {
  const { status } = reply
  if ((status === 403 || status === 404) && !isLimited(reply)) return { kind: 'none' }
  const code = refusalOf(reply)
  if (code !== null) return refusedAs(code, reply)
  const told = orUndefined(() => readReply('user', reply.body))
  if (told === undefined) return refusedAs('codehost_reply', reply)
  // The account of an app is shared by whoever uses that: it proves nothing.
  return told.type === 'Bot' ? { kind: 'none' }
    : { kind: 'told', author: { id: told.id, via_app: viaApp } }
}

/**
 * What the host says of a repository, read strictly: the members that are needed must be there and
 * of their type, others may stand beside them. Total: it never throws on any reply.
 */
import { orUndefined } from '../../governance/judge/fact.js'
import { isIdentityEncoded, isRedirect } from '../../net/reply.js'
import type { RetryAfter } from '../../net/retry-after.js'
import type { HttpsReply } from '../../net/types.js'
import { readReply } from '../replies/parse-reply.js'
import type { HostReplyOf } from '../replies/shapes.js'
import { isRepositoryName } from '../repository.js'
import { backOf, isLimited } from './refusal.js'

/** Roles that the host tells of, the least first. */
const hostRoles = ['pull', 'triage', 'push', 'maintain', 'admin'] as const
type HostRole = (typeof hostRoles)[number]

/** A repository as the host describes it to this token. */
export interface HostRepository {
  readonly id: number
  /** `OWNER/NAME` as the host writes it. */
  readonly fullName: string
  readonly isPrivate: boolean
  readonly archived: boolean
  readonly hasIssues: boolean
  readonly defaultBranch: string
  /** Roles that the token's account has there; empty where the host tells none. */
  readonly roles: readonly HostRole[]
  /** Whether it may push there; null where the host does not tell. */
  readonly mayPush: boolean | null
  /** Scopes of a classic token; null where the host tells nothing of the token. */
  readonly scopes: readonly string[] | null
}

/** Why a reply says nothing of a repository. */
export type RepositoryRefusal =
  | 'codehost_token_refused' | 'codehost_rate_limited' | 'repository_not_seen'
  | 'repository_moved' | 'codehost_reply'

/** A reply to a read that says nothing. */
export interface Refused {
  readonly kind: 'refused'
  readonly code: RepositoryRefusal
  readonly status: number
  /** When the token may come back; null where no limit of it was named, or no time. */
  readonly back: RetryAfter | null
}

/** A judged reply. */
export type RepositoryVerdict =
  | { readonly kind: 'seen'; readonly repository: HostRepository }
  | Refused

/** What the host calls it may be printed in a command: only a name is one. */
const isFullName = (text: string): boolean => {
  const [owner = '', name = '', ...more] = text.split('/')
  return more.length === 0 && isRepositoryName({ owner, name })
}

type Told = HostReplyOf<'repository'>

const rolesOf = ({ permissions }: Told): readonly HostRole[] =>
  hostRoles.filter((role) => permissions?.[role] === true)

/** A header that is not there, as with a fine-grained token, is not an empty list. */
const scopesOf = (headers: HttpsReply['headers']): readonly string[] | null => {
  const told = headers.get('x-oauth-scopes')
  if (told === undefined) return null
  return told.flatMap((value) => value.split(',')).map((scope) => scope.trim())
    .filter((scope) => /^[a-z_:]{1,64}$/.test(scope))
}

const repositoryOf = (told: Told, headers: HttpsReply['headers']): HostRepository | null => {
  const { id, full_name: fullName, default_branch: defaultBranch, archived } = told
  return !isFullName(fullName) ? null : {
    id, fullName, defaultBranch, isPrivate: told.private, archived,
    hasIssues: told.has_issues, roles: rolesOf(told),
    mayPush: told.permissions?.push ?? null, scopes: scopesOf(headers),
  }
}

/** Why a reply to a read says nothing; null for a whole one with status 200. */
export const refusalOf = (reply: HttpsReply): RepositoryRefusal | null => {
  if (reply.status === 200) return isIdentityEncoded(reply.headers) ? null : 'codehost_reply'
  if (isLimited(reply)) return 'codehost_rate_limited'
  if (reply.status === 401 || reply.status === 403) return 'codehost_token_refused'
  if (isRedirect(reply.status)) return 'repository_moved'
  return reply.status === 404 ? 'repository_not_seen' : 'codehost_reply'
}

/** A reply to a read that says nothing, for this reason. */
export const refusedAs = (code: RepositoryRefusal, reply: HttpsReply): Refused =>
  ({ kind: 'refused', code, status: reply.status, back: backOf(reply) })

export const judgeRepositoryReply = (reply: HttpsReply): RepositoryVerdict => {
  const code = refusalOf(reply)
  if (code !== null) return refusedAs(code, reply)
  const told = orUndefined(() => readReply('repository', reply.body))
  const repository = told === undefined ? null : repositoryOf(told, reply.headers)
  return repository === null
    ? refusedAs('codehost_reply', reply) : { kind: 'seen', repository }
}

/**
 * What the host says of a repository, read strictly: the members that are needed must be there and
 * of their type, others may stand beside them. Total: it never throws on any reply.
 */
import { isIdentityEncoded, isRecord, isRedirect, member, parseReply, type JsonRecord }
  from '../../net/reply.js'
import type { HttpsReply } from '../../net/types.js'
import { codehostLimits } from '../constants.js'
import { isRepositoryName } from '../repository.js'

/** Roles that the host tells of, the least first. */
export const hostRoles = ['pull', 'triage', 'push', 'maintain', 'admin'] as const
export type HostRole = (typeof hostRoles)[number]

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
  /** Scopes of a classic token; null where the host tells nothing of the token. */
  readonly scopes: readonly string[] | null
}

/** Why a reply says nothing of a repository. */
export type RepositoryRefusal =
  | 'codehost_token_refused' | 'codehost_rate_limited' | 'repository_not_seen'
  | 'repository_moved' | 'codehost_reply'

/** A judged reply. */
export type RepositoryVerdict =
  | { readonly kind: 'seen'; readonly repository: HostRepository }
  | { readonly kind: 'refused'; readonly code: RepositoryRefusal; readonly status: number }

const textOf = (record: JsonRecord, name: string): string | null => {
  const value = member(record, name)
  const plain = typeof value === 'string' && value.length <= 256 && /^[^\p{Cc}\p{Cf}\p{Cs}]+$/u
    .test(value)
  return plain ? value : null
}

/** What the host calls it may be printed in a command: only a name is one. */
const isFullName = (text: string): boolean => {
  const [owner = '', name = '', ...more] = text.split('/')
  return more.length === 0 && isRepositoryName({ owner, name })
}

const flagOf = (record: JsonRecord, name: string): boolean | null => {
  const value = member(record, name)
  return typeof value === 'boolean' ? value : null
}

const idOf = (record: JsonRecord): number | null => {
  const value = member(record, 'id')
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

const rolesOf = (record: JsonRecord): readonly HostRole[] => {
  const told = member(record, 'permissions')
  return isRecord(told) ? hostRoles.filter((role) => member(told, role) === true) : []
}

/** A header that is not there, as with a fine-grained token, is not an empty list. */
const scopesOf = (headers: HttpsReply['headers']): readonly string[] | null => {
  const told = headers.get('x-oauth-scopes')
  if (told === undefined) return null
  return told.flatMap((value) => value.split(',')).map((scope) => scope.trim())
    .filter((scope) => /^[a-z_:]{1,64}$/.test(scope))
}

const repositoryOf = (
  record: JsonRecord, headers: HttpsReply['headers'],
): HostRepository | null => {
  const id = idOf(record)
  const fullName = textOf(record, 'full_name')
  const defaultBranch = textOf(record, 'default_branch')
  const isPrivate = flagOf(record, 'private')
  const archived = flagOf(record, 'archived')
  const hasIssues = flagOf(record, 'has_issues')
  if (id === null || fullName === null || !isFullName(fullName)) return null
  if (defaultBranch === null) return null
  if (isPrivate === null || archived === null || hasIssues === null) return null
  return {
    id, fullName, defaultBranch, isPrivate, archived, hasIssues,
    roles: rolesOf(record), scopes: scopesOf(headers),
  }
}

const isLimited = ({ status, headers }: HttpsReply): boolean =>
  status === 429
  || (status === 403 && (headers.has('retry-after')
    || headers.get('x-ratelimit-remaining')?.at(-1) === '0'))

const refusalOf = (reply: HttpsReply): RepositoryRefusal | null => {
  if (reply.status === 200) return isIdentityEncoded(reply.headers) ? null : 'codehost_reply'
  if (isLimited(reply)) return 'codehost_rate_limited'
  if (reply.status === 401 || reply.status === 403) return 'codehost_token_refused'
  if (isRedirect(reply.status)) return 'repository_moved'
  return reply.status === 404 ? 'repository_not_seen' : 'codehost_reply'
}

/** Judges the reply to a read of one repository. */
export const judgeRepositoryReply = (reply: HttpsReply): RepositoryVerdict => {
  const { status } = reply
  const code = refusalOf(reply)
  if (code !== null) return { kind: 'refused', code, status }
  const record = parseReply(reply.body, {
    bytesMax: codehostLimits.smallReplyBytesMax, depthMax: codehostLimits.replyDepthMax,
  })
  const repository = record === null ? null : repositoryOf(record, reply.headers)
  return repository === null
    ? { kind: 'refused', code: 'codehost_reply', status } : { kind: 'seen', repository }
}

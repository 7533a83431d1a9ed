/**
 * Reading what a repository is and whose the credential of a connection is: two GETs, no task,
 * nothing written on the other side.
 */
import { fail, SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Sent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import type { Author, Connection } from '../../governance/connections/connection-rows.js'
import { orUndefined } from '../../governance/judge/fact.js'
import { policyHead } from '../../governance/policy/head.js'
import type { Session } from '../../governance/context.js'
import { ContactError } from '../../net/contact-error.js'
import type { HttpsReply } from '../../net/types.js'
import { afterRead } from '../after-read.js'
import { codehostLimits } from '../constants.js'
import type { CodehostContext } from '../context.js'
import type { Bound } from '../readiness.js'
import { readReply } from '../replies/parse-reply.js'
import { hostPath, repositoryOf } from '../repository.js'
import { boundOf, readOrder, type Get, type Reading } from './reads.js'
import { backDetails, backText, isLimited } from './refusal.js'
import {
  judgeRepositoryReply, refusalOf, refusedAs, type HostRepository, type Refused,
  type RepositoryRefusal, type RepositoryVerdict,
} from './repository-reply.js'

/** A judged reply. `none`: a token of an installation or a workflow may not ask that. */
type AuthorVerdict =
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
const isShared = (token: Uint8Array): boolean => begins(token, prefixes.installation)

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

/** What was read, and the credential that it was read with. */
export interface Look {
  readonly repository: HostRepository
  /** Whose the token is; null where it may not ask that. */
  readonly author: Author | null
  readonly bound: Bound
  /** Fence of the policy before the host was asked. */
  readonly policyFence: number
}

interface Wires {
  readonly repository: Sent<RepositoryVerdict>
  /** Null where nobody was asked. */
  readonly author: Sent<AuthorVerdict> | null
}

type Seen = Pick<Look, 'repository' | 'author'>

/** A connection that may be saved anew, or the job for which it must stay as it is. */
type Remedy = { readonly save: Connection } | { readonly keptFor: string }

/** What a job has sent is proved under the token and name that it was sent with, and no others. */
export const remedyOf = (connection: Connection): Remedy => (connection.active_job_id === null
  ? { save: connection } : { keptFor: connection.active_job_id })

type NextOf = (remedy: Remedy) => string

const savedOrKept = (saved: (of: Connection) => string, kept: string): NextOf => (remedy) =>
  ('keptFor' in remedy
    ? `${kept} See \`sallyport codehost jobs ${remedy.keptFor}\`.` : saved(remedy.save))

const refusals: Readonly<Record<RepositoryRefusal, { text: string; next: NextOf }>> = {
  codehost_token_refused: {
    text: 'The code host refused the token of this connection.',
    next: savedOrKept(
      ({ connection_id: id, revision }) => 'Store another one: `sallyport codehost connect '
        + `--connection ${id} --token-file F --expected-revision ${revision}\`.`,
      'Give the token its rights back on the host, then try again: another token is not taken for '
        + 'the job that occupies the connection.'),
  },
  codehost_rate_limited: {
    text: 'The code host takes no more requests of this token now.', next: () => 'Try again later.',
  },
  repository_not_seen: {
    text: 'The code host shows no such repository to this token.',
    next: () => 'Private repositories look absent: check the name, and what the token may see.',
  },
  repository_moved: {
    text: 'The repository has moved; the code host names another place, which is not followed.',
    next: savedOrKept(
      ({ connection_id: id, revision }) => 'Save its new name: `sallyport codehost connect '
        + `--connection ${id} --repo NAME --expected-revision ${revision}\`.`,
      'Give the repository its old name back on the host, then try again: the job that occupies '
        + 'the connection is read under no other.'),
  },
  codehost_reply: {
    text: 'The reply of the code host is not what its description says.',
    next: () => 'Try again later.',
  },
}

/** The error of a read that the host refused, and what helps. */
export const refusedError = (
  { code, status, back }: Omit<Refused, 'kind'>, remedy: Remedy,
): SallyportError => fail.remote(code, refusals[code].text, {
  next: back === null ? refusals[code].next(remedy) : `Try again ${backText(back)}.`,
  details: { status, ...backDetails(back) },
})

/**
 * The error of a read without a reply. What kept it back is told as what it is; behind the first
 * byte, with a status that says that something was sent. Only the rest is the host's silence.
 */
export const errorOf = (wire: Exclude<Sent<unknown>, { kind: 'reply' }>): SallyportError => {
  const { cause } = wire
  if (wire.kind === 'unsent' && cause instanceof SallyportError) return cause
  const ofHost = cause instanceof ContactError && cause.kind !== 'cancelled'
  if (cause instanceof SallyportError && !ofHost) return afterRead(cause)
  return fail.remote('codehost_unreachable', 'The code host gave no answer.', {
    reason: wire.reason, next: 'Nothing was changed there: only a read was asked for. Try again.',
  })
}

const ask = async (path: string, get: Get, key: Uint8Array): Promise<Wires> => {
  const repository = await get(path, judgeRepositoryReply)
  const isSeen = repository.kind === 'reply' && repository.verdict.kind === 'seen'
  if (!isSeen) return { repository, author: null }
  const [viaApp, shared] = [isViaApp(key), isShared(key)]
  return {
    repository,
    author: await get(hostPath.user(), (one) => {
      const verdict = judgeAuthor(one, viaApp)
      return shared && verdict.kind === 'told' ? { kind: 'none' } : verdict
    }),
  }
}

/** What both replies say, or why one of them says nothing. */
const seenOf = ({ repository, author }: Wires, of: Connection): Seen | SallyportError => {
  if (repository.kind !== 'reply') return errorOf(repository)
  if (repository.verdict.kind === 'refused') return refusedError(repository.verdict, remedyOf(of))
  // The host was asked before: no status may say that nobody was.
  if (author?.kind !== 'reply') {
    return afterRead(errorOf(author ?? { kind: 'sent', reason: 'not_read' }))
  }
  const { verdict } = author
  if (verdict.kind === 'refused') return refusedError(verdict, remedyOf(of))
  return {
    repository: repository.verdict.repository,
    author: verdict.kind === 'told' ? verdict.author : null,
  }
}

const outcomeOf = ({ repository, author }: Wires, kept: Seen | SallyportError): string => {
  if (!(kept instanceof SallyportError)) return 'read'
  const last = author ?? repository
  return last.kind === 'reply' ? 'refused' : last.kind
}

const looking = (connection: Connection): Reading<Wires, Seen | SallyportError> => {
  const path = hostPath.repository(repositoryOf(connection.repository))
  return {
    step: 'look', verb: 'codehost consent', noun: 'look',
    operationMsMax: codehostLimits.lookMsMax, connectionId: connection.connection_id, path,
    read: (get, key) => ask(path, get, key),
    unsent: (why) => ({ repository: why, author: null }),
    close: (_tx, _now, _run, { evidence }) => {
      const kept = seenOf(evidence, connection)
      return { kept, outcome: outcomeOf(evidence, kept), adopts: false }
    },
  }
}

/**
 * Asks the host what the repository of a connection is. Throws `remote` for what the host refuses
 * or does not answer, `unauthorized`, `conflict` and `not_found` for what changed meanwhile.
 */
export const lookAtRepository = async (
  ctx: CodehostContext, session: Session, connectionId: string,
): Promise<Look> => {
  const view = ctx.gov.store.read()
  const connection = requireOwnConnection(view, session, connectionId)
  const bound = boundOf(view, session, connection, ctx.baseUrl)
  const { fence: policyFence } = policyHead(view)
  const kept = await runOrder(ctx, readOrder(ctx, session, connection, looking(connection)))
  if (kept instanceof Error) throw kept
  const { repository: { fullName } } = kept
  if (fullName === connection.repository) return { ...kept, bound, policyFence }
  throw fail.remote(
    'repository_name_differs', 'The code host spells the name of this repository differently.', {
      next: 'Save it as the host writes it: `sallyport codehost connect --connection '
        + `${connectionId} --repo ${fullName} --expected-revision ${connection.revision}\`.`,
    },
  )
}

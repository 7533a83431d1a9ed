/**
 * Reading what a publication is laid over: the repository, the branch that it starts from with its
 * commit and its whole tree, and that the new branch is not there. Every id is computed anew; what
 * the host only says is not taken. GETs alone, under the live session.
 */
import { fail, SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Sent, Unsent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import type { Connection } from '../../governance/connections/connection-rows.js'
import type { Session } from '../../governance/context.js'
import type { HttpsReply } from '../../net/types.js'
import type { View } from '../../state/types.js'
import { codehostLimits } from '../constants.js'
import type { CodehostContext } from '../context.js'
import { branchRefPrefix, requireBranchName } from '../git/branch-name.js'
import type { ObjectId } from '../git/object-id.js'
import { treeOfListing, type GitTree } from '../git/tree.js'
import { replyLimits } from '../plan/plan-limits.js'
import { listingOf, readReply } from '../replies/parse-reply.js'
import type { HostReplyName, HostReplyOf } from '../replies/shapes.js'
import { hostPath, repositoryOf } from '../repository.js'
import { errorOf, refusedError, remedyOf } from './look.js'
import { readOrder, type Get } from './reads.js'
import {
  judgeRepositoryReply, refusalOf, refusedAs, type HostRepository, type Refused,
} from './repository-reply.js'

/** What is asked about. */
export interface BaseWish {
  readonly connectionId: string
  /** The branch to start from, and the one to make. */
  readonly base: string
  readonly branch: string
  /** What every boundary of each GET requires besides; throws to refuse. */
  readonly requires?: (view: View) => void
}

/** What the host has there. */
export interface BaseOnHost {
  readonly repository: HostRepository
  readonly commit: ObjectId
  readonly tree: GitTree
  /** Bytes of its files by their ids, where the host tells; nothing proves them. */
  readonly sizes: ReadonlyMap<ObjectId, number>
}

/** What a strict reader made of a reply. */
export type Told<T> =
  | { readonly kind: 'told'; readonly value: T }
  | Refused
  | { readonly kind: 'invalid'; readonly error: SallyportError }

/** Judges a reply. Total: what a strict reader refuses comes back as its error. */
export const told = <N extends HostReplyName>(name: N) => (
  reply: HttpsReply,
): Told<HostReplyOf<N>> => {
  const code = refusalOf(reply)
  if (code !== null) return refusedAs(code, reply)
  try {
    return { kind: 'told', value: readReply(name, reply.body) }
  } catch (error) {
    if (error instanceof SallyportError) return { kind: 'invalid', error }
    throw error
  }
}

const toldRepository = (reply: HttpsReply): Told<HostRepository> => {
  const verdict = judgeRepositoryReply(reply)
  return verdict.kind === 'seen' ? { kind: 'told', value: verdict.repository } : verdict
}

/** What was told through a connection; throws what the host refused, or did not answer. */
export const valueOf = <T>(wire: Sent<Told<T>>, through: Connection): T => {
  if (wire.kind !== 'reply') throw errorOf(wire)
  const { verdict } = wire
  if (verdict.kind === 'told') return verdict.value
  throw verdict.kind === 'refused' ? refusedError(verdict, remedyOf(through)) : verdict.error
}

/** The error of a reply that is about something else. */
export const contradicts = (what: string): SallyportError => fail.remote(
  'host_reply_invalid', `The code host’s ${what} is not the one that was asked for.`, {
    reason: 'other_object', next: 'Try again; nothing was changed.',
  },
)

const baseNotSeen = () => fail.remote(
  'base_branch_missing', 'The code host shows no branch of that name to start from.', {
    next: 'Check the name of the base branch.',
  },
)

const branchThere = () => fail.blocked(
  'branch_exists', 'The repository has a branch of that name: a publication makes a new one.', {
    reason: 'branch_exists', next: 'Give the new branch another name.',
  },
)

const truncated = () => fail.blocked(
  'base_tree_truncated', 'The base has more files than the host lists, so nothing is laid over it.',
  { reason: 'base_tree_truncated', next: 'Publish to a repository with fewer files.' },
)

const requireFree = (wire: Sent<Told<unknown>>, through: Connection): void => {
  const refused = wire.kind === 'reply' && wire.verdict.kind === 'refused' ? wire.verdict : null
  if (refused?.status === 404) return
  valueOf(wire, through)
  throw branchThere()
}

const commitOf = (
  wire: Sent<Told<HostReplyOf<'ref'>>>, base: string, through: Connection,
): ObjectId => {
  const missing = wire.kind === 'reply' && wire.verdict.kind === 'refused'
    && wire.verdict.status === 404
  if (missing) throw baseNotSeen()
  const { ref, object } = valueOf(wire, through)
  if (ref !== branchRefPrefix + base || object.type !== 'commit') throw contradicts('branch')
  return object.sha
}

const treeOf = (
  wire: Sent<Told<HostReplyOf<'tree'>>>, id: ObjectId, through: Connection,
): Pick<BaseOnHost, 'tree' | 'sizes'> => {
  const reply = valueOf(wire, through)
  if (reply.truncated) throw truncated()
  if (reply.sha !== id) throw contradicts('tree')
  const sizes = new Map(reply.tree.flatMap(({ sha, size }) =>
    typeof size === 'number' ? [[sha, size] as const] : []))
  return { tree: treeOfListing(id, listingOf(reply)), sizes }
}

const readAll = async (
  get: Get, through: Connection, { base, branch }: BaseWish,
): Promise<BaseOnHost> => {
  const name = repositoryOf(through.repository)
  const repository = valueOf(await get(hostPath.repository(name), toldRepository), through)
  requireFree(await get(hostPath.branch(name, branch), told('ref')), through)
  const commit = commitOf(await get(hostPath.branch(name, base), told('ref')), base, through)
  const { sha, tree } = valueOf(await get(hostPath.commit(name, commit), told('commit')), through)
  if (sha !== commit) throw contradicts('commit')
  const listing = await get(hostPath.tree(name, tree.sha), told('tree'), replyLimits.tree)
  return { repository, commit, ...treeOf(listing, tree.sha, through) }
}

type Read = BaseOnHost | SallyportError

/** What reads came to as a value, so that the operation ends before anything is thrown. */
export const orError = async <T>(work: () => Promise<T>): Promise<T | SallyportError> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

/**
 * Reads it. Throws `rejected` `branch_name_invalid` before anything is asked; `remote`
 * (`base_branch_missing`, `host_reply_invalid`, `tree_inconsistent`, what the host refuses);
 * `blocked` (`branch_exists`, `base_tree_truncated`).
 */
export const readBase = async (
  ctx: CodehostContext, session: Session, wish: BaseWish,
): Promise<BaseOnHost> => {
  requireBranchName(wish.base)
  requireBranchName(wish.branch)
  const connection = requireOwnConnection(ctx.gov.store.read(), session, wish.connectionId)
  const unsent = (why: Unsent): Read => errorOf(why)
  const read = await runOrder(ctx, readOrder<Read, Read>(ctx, session, connection, {
    step: 'base', verb: 'codehost prepare', noun: 'prepare',
    operationMsMax: codehostLimits.followThroughMsMax, connectionId: wish.connectionId,
    path: hostPath.repository(repositoryOf(connection.repository)),
    ...(wish.requires === undefined ? {} : { requires: wish.requires }),
    read: (get) => orError(() => readAll(get, connection, wish)),
    unsent,
    close: (_tx, _now, _run, { evidence }) => ({
      kept: evidence, outcome: evidence instanceof SallyportError ? 'refused' : 'read',
      adopts: false,
    }),
  }))
  if (read instanceof SallyportError) throw read
  return read
}

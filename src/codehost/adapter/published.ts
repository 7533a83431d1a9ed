/**
 * What the host says of the objects, the branch and the pull request of a publication: when they
 * are made, and when they are read back. Every id was known before; only what matches it is
 * evidence. Total: whatever a host answers is judged and nothing is thrown.
 */
import { branchRefPrefix } from '../git/branch-name.js'
import type { CommitDraft, Identity } from '../git/commit.js'
import { objectId, type ObjectId } from '../git/object-id.js'
import { treeOfListing } from '../git/tree.js'
import { treeBytes } from '../git/tree-entry.js'
import { orUndefined } from '../../governance/judge/fact.js'
import type { HttpsReply } from '../../net/types.js'
import { replyLimits } from '../plan/plan-limits.js'
import type { PlannedPost } from '../plan/posts.js'
import { blobBytesOf, listingOf, readReply } from '../replies/parse-reply.js'
import type { HostReplyOf } from '../replies/shapes.js'
import { hostPath, type RepositoryName } from '../repository.js'
import {
  judgePost, notThis, numberedConfirmation, type Confirmation, type PostVerdict,
} from './post-reply.js'
import { sameText } from './follow-told.js'
import { apartFromEdits, likenessOf, type Provenance } from './provenance.js'
import { judgedRead, type Payload, type Readback } from './readback.js'

/** What a publication is, as far as the host's words are compared with it. */
export interface Published {
  readonly repository: RepositoryName
  readonly repositoryId: number
  readonly base: { readonly branch: string }
  readonly branch: string
  readonly title: string
  readonly body: string
  /** The commit with its tree and parents, and its id. */
  readonly draft: CommitDraft
  readonly commit: ObjectId
  /** What tells its pull request from its like; ids and names of all else are evidence. */
  readonly pull: Provenance
}

/** What of a POST its replies are judged by. */
export type JudgedPost = Pick<PlannedPost, 'kind' | 'id'>

const isOwnRef = (
  { branch, commit }: Pick<Published, 'branch' | 'commit'>, { ref, object }: HostReplyOf<'ref'>,
): boolean =>
  ref === branchRefPrefix + branch && object.type === 'commit' && object.sha === commit

/** Whether a pull request is from the new branch into its base; both in the one repository. */
const isBetween = (of: Published, { head, base }: HostReplyOf<'pull'>): boolean =>
  head.ref === of.branch && base.ref === of.base.branch
  && head.repo?.id === of.repositoryId && base.repo?.id === of.repositoryId

/** What is named by what it holds: another id is another thing. */
const identified = (isIt: boolean): Confirmation =>
  (isIt ? { remoteId: null, problem: null } : notThis('differs'))

/**
 * Judges the reply to a POST of a publication. A 201 whose id is not the predicted one, or that is
 * about another branch or pull request, is unknown and no success.
 */
export const judgePublished = (
  of: Published, { kind, id }: JudgedPost,
): ((reply: HttpsReply) => PostVerdict) => {
  if (kind === 'pull_request') {
    return judgePost((body) => {
      const told = readReply('pull', body)
      return numberedConfirmation(of.pull, {
        remoteId: told.number, payload: told,
        inPlace: isBetween(of, told) && told.head.sha === of.commit,
        sameText: told.title === of.title && sameText(told.body, of.body),
      })
    })
  }
  if (kind === 'ref') {
    return judgePost((body) => identified(isOwnRef(of, readReply('ref', body))))
  }
  return judgePost((body) => identified(readReply('created', body).sha === id))
}

/** A new tree comes back with its rows; everything else is small. */
export const postReplyMax = ({ kind }: Pick<JudgedPost, 'kind'>): number =>
  (kind === 'chunk' || kind === 'growth' ? replyLimits.tree : replyLimits.other)

const samePerson = (told: Identity, sent: Identity): boolean =>
  told.name === sent.name && told.email === sent.email
    && Date.parse(told.date) === Date.parse(sent.date)

/** Hosts leave out the last line end of a message; nothing else may be missing. */
const sameMessage = (told: string, sent: string): boolean =>
  told === sent || `${told}\n` === sent

const commitPayload = ({ draft, commit }: Published, body: Uint8Array): Payload => {
  const told = readReply('commit', body)
  const parents = told.parents.map(({ sha }) => sha)
  const sameParents = parents.length === draft.parents.length
    && parents.every((sha, at) => sha === draft.parents[at])
  return {
    matches: told.sha === commit && told.tree.sha === draft.tree && sameParents
      && samePerson(told.author, draft.author) && samePerson(told.committer, draft.committer)
      && sameMessage(told.message, draft.message),
    payload: told,
  }
}

/** What is told of a pull request, and whether that is the one that was sent. */
interface ToldPull extends Payload { readonly payload: Omit<HostReplyOf<'pull'>, 'updated_at'> }

/** The pull request of a number. Throws where the reply is not whole. */
export const pullTold = (of: Published, number: number, body: Uint8Array): ToldPull => {
  const told = readReply('pull', body)
  return {
    matches: told.number === number && told.state === 'open' && !told.draft && !told.merged
      && told.title === of.title && sameText(told.body, of.body)
      && isBetween(of, told) && told.head.sha === of.commit,
    ...apartFromEdits(told), likeness: likenessOf(of.pull, told),
  }
}

const truncated: Payload = { matches: false, truncated: true, payload: null }

/**
 * The ids of every level are computed from what is listed below it. What is said is named by them:
 * the rows of a large tree are not told once more.
 */
const treePayload = (id: ObjectId, body: Uint8Array): Payload => {
  const told = readReply('tree', body)
  if (told.truncated) return truncated
  const tree = orUndefined(() => treeOfListing(id, listingOf(told)))
  return {
    matches: told.sha === id && tree?.id === id, decodedBytes: tree?.size.objectBytes ?? 0,
    payload: { sha: told.sha, tree: tree?.id ?? null, entries: told.tree.length },
  }
}

const isName = (path: string): boolean => !path.includes('/') && !path.includes('\0')

/** One level: its id is computed from its entries, whose ids say what is below. */
const levelPayload = (id: ObjectId, body: Uint8Array): Payload => {
  const told = readReply('tree', body)
  if (told.truncated) return truncated
  const entries = told.tree.map(({ path, mode, sha }) => ({ name: path, mode, id: sha }))
  const names = new Set(entries.map(({ name }) => name))
  const bytes = treeBytes(entries)
  const made = objectId('tree', bytes)
  return {
    matches: told.sha === id && made === id && names.size === entries.length
      && entries.every(({ name }) => isName(name)),
    decodedBytes: bytes.length, payload: { sha: told.sha, tree: made, entries: entries.length },
  }
}

/** Whether bytes are those of some pieces, and of no more. */
const isMadeOf = (bytes: Buffer, pieces: Iterable<Uint8Array>): boolean => {
  let at = 0
  for (const piece of pieces) {
    if (!bytes.subarray(at, at + piece.length).equals(piece)) return false
    at += piece.length
  }
  return at === bytes.length
}

const blobPayload = (
  id: ObjectId, body: Uint8Array, sealed?: () => Iterable<Uint8Array>,
): Payload => {
  const told = readReply('blob', body)
  const bytes = blobBytesOf(told)
  const made = objectId('blob', bytes)
  return {
    matches: told.sha === id && made === id && (sealed === undefined || isMadeOf(bytes, sealed())),
    decodedBytes: bytes.length, payload: { sha: told.sha, blob: made, bytes: bytes.length },
  }
}

const readWith = (
  path: string, read: (body: Uint8Array) => Payload, replyBytesMax?: number,
): Readback => ({
  path, judge: (reply) => judgedRead(reply, read),
  ...(replyBytesMax === undefined ? {} : { replyBytesMax }),
})

/**
 * How a POST of a publication is read back: by its predicted id, the branch by its exact name, the
 * pull request by the number that the host gave it, which nothing is searched for. Throws a defect
 * where that is missing.
 */
export const publishedReadback = (
  of: Published, { kind, id }: JudgedPost, remoteId: number | null,
): Readback => {
  const { repository, branch } = of
  if (kind === 'pull_request') {
    if (remoteId === null) throw new TypeError('a pull request is read by its number alone')
    return readWith(hostPath.pull(repository, remoteId), (body) => pullTold(of, remoteId, body))
  }
  if (kind === 'ref') {
    return readWith(hostPath.branch(repository, branch), (body) => {
      const told = readReply('ref', body)
      return { matches: isOwnRef(of, told), payload: told }
    })
  }
  if (id === null) throw new TypeError('an object has an id before it is made')
  if (kind === 'blob') {
    return readWith(hostPath.blob(repository, id), (body) => blobPayload(id, body),
      replyLimits.blob)
  }
  if (kind === 'commit') {
    return readWith(hostPath.commit(repository, id), (body) => commitPayload(of, body))
  }
  return readWith(hostPath.tree(repository, id), (body) => treePayload(id, body), replyLimits.tree)
}

/** How one level of a tree is read back, whatever is below it. */
export const levelReadback = (
  { repository }: Pick<Published, 'repository'>, id: ObjectId,
): Readback =>
  readWith(hostPath.treeLevel(repository, id), (body) => levelPayload(id, body), replyLimits.tree)

/** How a file that was sent as it is is read back: byte by byte, beside the sealed ones. */
export const contentReadback = (
  { repository }: Pick<Published, 'repository'>, id: ObjectId, sealed: () => Iterable<Uint8Array>,
): Readback => readWith(
  hostPath.blob(repository, id), (body) => blobPayload(id, body, sealed), replyLimits.blob)

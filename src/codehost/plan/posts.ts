/** The POSTs of a publication in their exact order, with the id that each will have. */
import { branchRefPrefix } from '../git/branch-name.js'
import { commitId, type CommitDraft } from '../git/commit.js'
import type { ObjectId } from '../git/object-id.js'
import { emptyTree, overlaid, type GitTree } from '../git/tree.js'
import { hostPath, type RepositoryName } from '../repository.js'
import {
  blobBody, idEntry, inlineEntryBytes, inlineFrameBytes, inlineTreeBody, jsonBody, type Body,
} from './body.js'
import type { Change } from './changes.js'
import { postLimits } from './plan-limits.js'

/** How much one chunk may hold. */
interface ChunkLimits {
  readonly itemsMax: number
  readonly bytesMax: number
  /** Bytes of a chunk without items. */
  readonly frameBytes: number
}

/**
 * Cuts a list in order, each chunk as long as it may be. An item that is too large alone stands
 * alone; whoever cuts keeps such items out.
 */
export const chunked = <T>(
  items: readonly T[], bytesOf: (item: T) => number, limits: ChunkLimits,
): readonly (readonly T[])[] => {
  const chunks: T[][] = []
  let bytes = 0
  for (const item of items) {
    const more = bytesOf(item)
    const last = chunks.at(-1)
    if (last === undefined || last.length >= limits.itemsMax || bytes + more > limits.bytesMax) {
      chunks.push([item])
      bytes = limits.frameBytes + more
    } else {
      last.push(item)
      bytes += more
    }
  }
  return chunks
}

/** What a consent must allow for a POST. */
type PostAction = 'git.object.create' | 'git.ref.create' | 'pull_request.create'

/** One POST of a plan. */
export interface PlannedPost extends Body {
  /** Its place in the order, from 1. */
  readonly number: number
  readonly kind: 'blob' | 'chunk' | 'growth' | 'commit' | 'ref' | 'pull_request'
  readonly action: PostAction
  /** Path of the request below the host's base. */
  readonly path: string
  /** The id that the host must answer with; null where the host chooses a number. */
  readonly id: ObjectId | null
  /** Files that it names or carries. */
  readonly files: number
  /** The tree that it makes, for reading it back level by level. */
  readonly tree: GitTree | null
}

/** What a publication consists of, its texts already checked. */
interface PostInput {
  readonly repository: RepositoryName
  readonly base: {
    readonly branch: string
    readonly commit: ObjectId
    readonly tree: GitTree
  }
  readonly changes: readonly Change[]
  readonly branch: string
  readonly title: string
  readonly body: string
  readonly commit: Omit<CommitDraft, 'tree' | 'parents'>
}

type Numbered = readonly [number, Change]
type Post = Omit<PlannedPost, 'number'>

const objectPost = (
  kind: 'blob' | 'chunk' | 'growth' | 'commit', path: string, id: ObjectId, body: Body,
  more: Partial<Pick<Post, 'files' | 'tree'>> = {},
): Post => ({ kind, action: 'git.object.create', path, id, files: 0, tree: null, ...more, ...body })

/** Whether a file's content can stand in a tree's POST. An empty one is a blob: hosts refuse it. */
const fitsInline = (change: Change): boolean =>
  change.text && change.bytes > 0
  && inlineFrameBytes + inlineEntryBytes(change) <= postLimits.treeBodyBytesMax

/** The first change of every content that the base does not have, with its place. */
const toUpload = (base: GitTree, changes: readonly Change[]): readonly Numbered[] => {
  const known = new Set([...base.listing()].map(({ id }) => id))
  return [...changes.entries()].filter(([, { id }]) => {
    if (known.has(id)) return false
    known.add(id)
    return true
  })
}

const blobPosts = ({ repository }: PostInput, uploads: readonly Numbered[]): Post[] =>
  uploads.filter(([, change]) => !fitsInline(change)).map(([at, change]) =>
    objectPost('blob', hostPath.blobs(repository), change.id, blobBody(at, change), { files: 1 }))

/** Trees of this publication's files alone, so that reading one back costs its own entries. */
const chunkPosts = ({ repository }: PostInput, uploads: readonly Numbered[]): Post[] =>
  chunked(
    uploads.filter(([, change]) => fitsInline(change)), ([, change]) => inlineEntryBytes(change), {
      itemsMax: postLimits.inlineFilesMax, bytesMax: postLimits.treeBodyBytesMax,
      frameBytes: inlineFrameBytes,
    },
  ).map((files) => {
    const tree = overlaid(emptyTree, files.map(([, change]) => change))
    const more = { files: files.length, tree }
    return objectPost('chunk', hostPath.trees(repository), tree.id, inlineTreeBody(files), more)
  })

const idEntryBytes = (change: Change): number =>
  Buffer.byteLength(JSON.stringify(idEntry(change))) + 1

const growthFrameBytes = Buffer.byteLength(JSON.stringify({ base_tree: '0'.repeat(40), tree: [] }))

/** The final tree, grown from the base by a few hundred ids at a time. */
const growthPosts = ({ repository, base, changes }: PostInput): Post[] => {
  let tree = base.tree
  return chunked(changes, idEntryBytes, {
    itemsMax: postLimits.growthIdsMax, bytesMax: postLimits.treeBodyBytesMax,
    frameBytes: growthFrameBytes,
  }).map((files) => {
    const body = jsonBody({ base_tree: tree.id, tree: files.map(idEntry) })
    tree = overlaid(tree, files)
    const more = { files: files.length, tree }
    return objectPost('growth', hostPath.trees(repository), tree.id, body, more)
  })
}

const lastPosts = (input: PostInput, tree: GitTree): Post[] => {
  const { repository, base, branch, title, body, commit } = input
  const { message, author, committer } = commit
  const parents = [base.commit]
  const id = commitId({ ...commit, tree: tree.id, parents })
  const made = jsonBody({ message, tree: tree.id, parents, author, committer })
  const plain = { files: 0, tree: null }
  return [
    objectPost('commit', hostPath.commits(repository), id, made),
    {
      kind: 'ref', action: 'git.ref.create', path: hostPath.refs(repository), id, ...plain,
      ...jsonBody({ ref: branchRefPrefix + branch, sha: id }),
    },
    {
      kind: 'pull_request', action: 'pull_request.create', path: hostPath.pulls(repository),
      id: null, ...plain,
      ...jsonBody({ title, head: branch, base: base.branch, body, draft: false }),
    },
  ]
}

/** Every POST in order: blobs, chunks, the final tree's growth, commit, branch, pull request. */
export const postsOf = (input: PostInput): readonly PlannedPost[] => {
  const uploads = toUpload(input.base.tree, input.changes)
  const growth = growthPosts(input)
  const tree = growth.at(-1)?.tree ?? input.base.tree
  return [
    ...blobPosts(input, uploads), ...chunkPosts(input, uploads), ...growth,
    ...lastPosts(input, tree),
  ].map((post, at) => ({ number: at + 1, ...post }))
}

/** What reading a publication back costs at most, when its capacity is closed. */
import { filesPageSize, hostPath, type RepositoryName } from '../repository.js'
import { base64BytesOf } from '../git/encode.js'
import type { GitTree } from '../git/tree.js'
import type { Change } from './changes.js'
import { replyLimits } from './plan-limits.js'
import type { PlannedPost } from './posts.js'

/** Reads and the bytes that come back. */
interface ClosingCost {
  readonly gets: number
  readonly rawBytes: number
  readonly decodedBytes: number
  readonly largestTreeReplyBytes: number
  readonly largestBlobReplyBytes: number
  readonly changedPages: number
}

/** Hosts write `\n` after this many digits of base64; escaped it takes two bytes. */
const base64Line = 60
/** Room for white space between the members of one object. */
const looseBytes = 64
/** Members of a blob's, tree's or page's reply besides what is counted below: ids and URLs. */
const frameBytes = 2048
/** One entry of a page of changed files without paths and patch: names, counts and three URLs. */
const changedEntryBytes = 1024
/** A host shows at most so many bytes of patches of one comparison; escaped they may double. */
const patchesBytesMax = 2_000_000

const idText = '0'.repeat(40)

/** Bytes of one row of a tree's reply without its path. */
const treeRowBytes = (host: string, repository: RepositoryName): number => {
  const url = `${host}${hostPath.commit(repository, idText)}`
  const row = { path: '', mode: '100644', type: 'commit', sha: idText, size: 999_999_999, url }
  return JSON.stringify(row).length + 1 + looseBytes
}

const treeReplyBytes = ({ size }: GitTree, rowBytes: number): number =>
  frameBytes + size.pathBytes + size.entries * rowBytes

const blobReplyBytes = (bytes: number): number => {
  const digits = base64BytesOf(bytes)
  return frameBytes + digits + 2 * Math.ceil(digits / base64Line)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/**
 * The cost: the repository, every blob, chunk and growth tree, commit, branch and pull request
 * once, and the pages of changed files. `host` is the base of the host's URLs.
 */
export const closingCost = (
  posts: readonly PlannedPost[], changes: readonly Change[],
  host: string, repository: RepositoryName,
): ClosingCost => {
  const rowBytes = treeRowBytes(host, repository)
  const blobs = posts.filter(({ kind }) => kind === 'blob')
    .map(({ parts }) => changes[parts.flatMap((part) => 'file' in part ? [part.file] : [])[0] ?? 0])
    .map((change) => change?.bytes ?? 0)
  const trees = posts.flatMap(({ tree }) => tree === null ? [] : [tree])
  const blobReplies = blobs.map(blobReplyBytes)
  const treeReplies = trees.map((tree) => treeReplyBytes(tree, rowBytes))
  // Repository, commit, branch and pull request.
  const plain = 4
  const changedPages = Math.ceil(changes.length / filesPageSize)
  const pages = changedPages * frameBytes + Math.min(
    patchesBytesMax, 2 * sum(changes.map(({ jsonBytes }) => jsonBytes)),
  ) + sum(changes.map(({ path }) => changedEntryBytes + 4 * Buffer.byteLength(path)))
  return {
    gets: plain + blobs.length + trees.length + changedPages,
    rawBytes: plain * replyLimits.other + sum(blobReplies) + sum(treeReplies) + pages,
    decodedBytes: sum(blobs) + sum(trees.map(({ size }) => size.objectBytes)),
    largestTreeReplyBytes: Math.max(0, ...treeReplies),
    largestBlobReplyBytes: Math.max(0, ...blobReplies),
    changedPages,
  }
}

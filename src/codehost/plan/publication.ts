/**
 * A publication planned from values alone: what changes, every POST with its predicted id, and what
 * it comes to. Nothing is read, sent or written here.
 */
import { fail } from '../../base/errors.js'
import { requireBranchName } from '../git/branch-name.js'
import { requireCommitText, type CommitDraft } from '../git/commit.js'
import type { ObjectId } from '../git/object-id.js'
import { overlaid, type GitTree } from '../git/tree.js'
import type { RepositoryName } from '../repository.js'
import { changesOn, type Change, type ScannedFile } from './changes.js'
import { closingCost } from './closing.js'
import { noCounts, postLimits, requireClosable, type PlanCounts } from './plan-limits.js'
import { postsOf, type PlannedPost } from './posts.js'
import { requireHostText } from './texts.js'

/** What a publication is planned from. */
export interface PublicationInput {
  readonly host: {
    /** `https://api.github.com`, without a slash at its end. */
    readonly base: string
    readonly loopback: boolean
    /** POSTs with this credential in the last 60 minutes, over all connections. */
    readonly earlierPosts: number
  }
  readonly repository: RepositoryName
  readonly base: {
    readonly branch: string
    readonly commit: ObjectId
    readonly tree: GitTree
  }
  /** Every file of the folder. */
  readonly files: readonly ScannedFile[]
  readonly branch: string
  readonly title: string
  readonly body: string
  readonly commit: Omit<CommitDraft, 'tree' | 'parents'>
  /** Bytes of the largest entry that one POST will put into its history. */
  readonly historyEntryBytes: (post: PlannedPost) => number
}

/** A publication that can be carried out, and closed. */
export interface PublicationPlan {
  /** Files that differ, by path. */
  readonly changes: readonly Change[]
  readonly posts: readonly PlannedPost[]
  /** The final tree and the commit that will hold it. */
  readonly tree: GitTree
  readonly commit: ObjectId
  readonly counts: PlanCounts
  /** Bytes of all bodies. */
  readonly postedBytes: number
  /** Seconds that the POSTs take at least, one a second where the host is not loopback. */
  readonly seconds: number
}

/** The texts of a publication: what can be told before anybody is asked anything. */
export interface PublicationTexts
  extends Pick<PublicationInput, 'branch' | 'title' | 'body' | 'commit'> {
  readonly base: Pick<PublicationInput['base'], 'branch'>
}

/**
 * Throws, all `rejected`: `branch_name_invalid`, `branch_is_base`, `host_text_invalid`,
 * `commit_text_invalid`.
 */
export const requirePublicationTexts = (input: PublicationTexts): void => {
  requireBranchName(input.base.branch)
  requireBranchName(input.branch)
  if (input.branch === input.base.branch) {
    throw fail.rejected('branch_is_base', 'The new branch and its base are the same.', {
      next: 'Give the new branch another name.',
    })
  }
  requireHostText({ title: input.title, body: input.body })
  requireCommitText(input.commit)
}

/** What is known before any tree is built, so that a folder too large costs nothing. */
const requireFewEnough = (changes: readonly Change[]): void => requireClosable({
  ...noCounts, ...sizesOf(changes),
})

const sizesOf = (
  changes: readonly Change[],
): Pick<PlanCounts, 'expectedFiles' | 'expectedBytes' | 'largestFileBytes'> => ({
  expectedFiles: changes.length,
  expectedBytes: changes.reduce((sum, { bytes }) => sum + bytes, 0),
  largestFileBytes: changes.reduce((most, { bytes }) => Math.max(most, bytes), 0),
})

/**
 * Plans a publication. Throws, all `rejected`: `branch_name_invalid`, `branch_is_base`,
 * `host_text_invalid`, `commit_text_invalid`, `path_not_publishable`, `nothing_to_publish`,
 * `overlay_refused`, and `plan_not_closable` with the name of the limit.
 */
export const planPublication = (input: PublicationInput): PublicationPlan => {
  requirePublicationTexts(input)
  const changes = changesOn(input.base.tree, input.files)
  requireFewEnough(changes)
  const tree = overlaid(input.base.tree, changes)
  const posts = postsOf({ ...input, changes })
  const closing = closingCost(posts, changes, input.host.base, input.repository)
  const counts: PlanCounts = {
    ...sizesOf(changes),
    treeEntries: tree.size.entries,
    treeListingBytes: tree.listingBytes,
    posts: posts.length,
    historyEntryBytes: Math.max(...posts.map(input.historyEntryBytes)),
    closingGets: closing.gets,
    closingRawBytes: closing.rawBytes,
    closingDecodedBytes: closing.decodedBytes,
    largestTreeReplyBytes: closing.largestTreeReplyBytes,
    largestBlobReplyBytes: closing.largestBlobReplyBytes,
    changedPages: closing.changedPages,
    earlierPosts: input.host.earlierPosts,
    loopback: input.host.loopback,
  }
  requireClosable(counts)
  const spacing = input.host.loopback ? 0 : postLimits.spacingMs
  return {
    changes, posts, tree, counts,
    commit: posts.find(({ kind }) => kind === 'commit')?.id ?? '',
    postedBytes: posts.reduce((sum, { bytes }) => sum + bytes, 0),
    seconds: (posts.length * spacing) / 1000,
  }
}

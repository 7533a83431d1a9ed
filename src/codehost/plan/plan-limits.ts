/**
 * What a publication may need so that its capacity can be closed afterwards by reading alone. A
 * plan above any of these is refused before anything is reserved. Two limits need no row of their
 * own: a history of 4,096 entries of 1,000 bytes stays under 4 MiB, and the receipts of 4,096 reads
 * stay under 16 MiB of journals.
 */
import { fail } from '../../base/errors.js'

const mebibyte = 1024 * 1024

/** Limits of what is sent. */
export const postLimits = {
  /** Files of which the content stands in one POST of a tree. */
  inlineFilesMax: 200,
  /** Bytes of the serialized body of one POST of a tree. */
  treeBodyBytesMax: 2_500_000,
  /** Ids by which one POST makes the final tree grow; hosts were seen to time out at 1,000. */
  growthIdsMax: 400,
  /** Milliseconds between two POSTs to a host that is not loopback. */
  spacingMs: 1000,
} as const

/** Milliseconds of the one window in which a publication's closing reads. */
export const closingMs = 120_000

/** Requests within any 60 seconds to a host that is not on this machine; it allows 900. */
export const getsPerMinuteMax = 800
/** Contents of the base among them: a preview comes right behind them, and reads more. */
export const contentsPerMinuteMax = 600
/** Contents of the base that one preview reads. */
export const previewContentsMax = 200

/** Limits of one reply, in bytes, by what is read. */
export const replyLimits = {
  tree: 32 * mebibyte, blob: 3 * mebibyte, filesPage: 8 * mebibyte, other: mebibyte,
} as const

/** What a plan comes to, as far as a limit counts it. */
export interface PlanCounts {
  /** Files that differ from the base. */
  readonly expectedFiles: number
  readonly expectedBytes: number
  readonly largestFileBytes: number
  /** Rows and bytes of `git ls-tree -r -t` of the final tree. */
  readonly treeEntries: number
  readonly treeListingBytes: number
  /** POSTs; each is one effect. */
  readonly posts: number
  /** Bytes of the largest entry that an effect puts into its history. */
  readonly historyEntryBytes: number
  /** Reads that closing needs, and what comes back at most. */
  readonly closingGets: number
  readonly closingRawBytes: number
  readonly closingDecodedBytes: number
  readonly largestTreeReplyBytes: number
  readonly largestBlobReplyBytes: number
  /** Pages of changed files. */
  readonly changedPages: number
  /** POSTs with this credential in the 60 minutes before, over all connections. */
  readonly earlierPosts: number
  /** Whether the host is on this machine, where nobody counts. */
  readonly loopback: boolean
}

/** What is under every limit: for the counts that are not known yet. */
export const noCounts: PlanCounts = {
  expectedFiles: 0, expectedBytes: 0, largestFileBytes: 0, treeEntries: 0, treeListingBytes: 0,
  posts: 0, historyEntryBytes: 0, closingGets: 0, closingRawBytes: 0, closingDecodedBytes: 0,
  largestTreeReplyBytes: 0, largestBlobReplyBytes: 0, changedPages: 0, earlierPosts: 0,
  loopback: true,
}

/** Limits of what is kept of histories and reads, in bytes where not said otherwise. */
export const keptLimits = {
  historyBytesMax: 4 * mebibyte,
  /** One sealed receipt of a read in a journal. */
  receiptBytesMax: 2048,
  journalBytesMax: 256 * 1024, journalsBytesMax: 16 * mebibyte, closureArtifactBytesMax: 256 * 1024,
} as const

/** One limit: its name, what is counted, and how much may be. */
interface Limit {
  readonly of: (counts: PlanCounts) => number
  readonly max: number
  readonly what: string
  /** Holds only where the host is not loopback. */
  readonly remoteOnly?: true
}

/** Two entries an effect (contacted, outcome), the plan's registration, the producer's two. */
const historyEntries = ({ posts }: PlanCounts): number => 2 * posts + 3

const limits = {
  expected_files: { of: (c) => c.expectedFiles, max: 2000, what: 'files that differ' },
  expected_bytes: {
    of: (c) => c.expectedBytes, max: 64 * mebibyte, what: 'bytes of files that differ',
  },
  file_bytes: { of: (c) => c.largestFileBytes, max: 2 * mebibyte, what: 'bytes of one file' },
  tree_entries: { of: (c) => c.treeEntries, max: 90_000, what: 'entries of the final tree' },
  tree_listing_bytes: {
    of: (c) => c.treeListingBytes, max: 6_500_000, what: 'bytes of the final tree as a list',
  },
  history_entry_bytes: {
    of: (c) => c.historyEntryBytes, max: 1000, what: 'bytes of one entry of the effect history',
  },
  history_entries: { of: historyEntries, max: 4096, what: 'entries of the effect history' },
  closing_gets: { of: (c) => c.closingGets, max: 4096, what: 'reads to close it' },
  closing_raw_bytes: {
    of: (c) => c.closingRawBytes, max: 192 * mebibyte, what: 'bytes read to close it',
  },
  closing_decoded_bytes: {
    of: (c) => c.closingDecodedBytes, max: 128 * mebibyte,
    what: 'bytes of objects read to close it',
  },
  tree_reply_bytes: {
    of: (c) => c.largestTreeReplyBytes, max: replyLimits.tree, what: 'bytes of one tree as read',
  },
  blob_reply_bytes: {
    of: (c) => c.largestBlobReplyBytes, max: replyLimits.blob, what: 'bytes of one file as read',
  },
  changed_pages: { of: (c) => c.changedPages, max: 20, what: 'pages of changed files' },
  posts_an_hour: {
    of: (c) => c.earlierPosts + c.posts, max: 480, remoteOnly: true,
    what: 'POSTs of this token within 60 minutes',
  },
  closing_gets_remote: {
    of: (c) => c.closingGets, max: 800, remoteOnly: true,
    what: 'reads to close it at a host of others',
  },
} as const satisfies Readonly<Record<string, Limit>>

/** Name of a limit; the `reason` of the refusal. */
export type PlanLimitName = keyof typeof limits

/** The most that each limit allows, by name. */
export const planLimitMax = Object.fromEntries(
  Object.entries(limits).map(([name, { max }]) => [name, max]),
) as Readonly<Record<PlanLimitName, number>>

/** A limit that a plan is above. */
interface PlanProblem {
  readonly limit: PlanLimitName
  readonly value: number
  readonly max: number
  readonly what: string
}

/** The first limit that a plan is above, or null. */
export const planProblem = (counts: PlanCounts): PlanProblem | null => {
  for (const [name, limit] of Object.entries(limits) as [PlanLimitName, Limit][]) {
    if (limit.remoteOnly && counts.loopback) continue
    const value = limit.of(counts)
    if (value > limit.max) return { limit: name, value, max: limit.max, what: limit.what }
  }
  return null
}

/** Throws `plan_not_closable` (rejected), its reason the name of the limit. */
export const requireClosable = (counts: PlanCounts): void => {
  const problem = planProblem(counts)
  if (problem === null) return
  const { limit, value, max, what } = problem
  throw fail.rejected(
    'plan_not_closable', `The publication would have ${value} ${what}; the limit is ${max}.`, {
      reason: limit, details: { limit, value, max },
      next: limit === 'posts_an_hour'
        ? 'Publish less at once, or wait until the hour is over.'
        : 'Publish less at once.',
    })
}

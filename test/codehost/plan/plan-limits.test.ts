/** Every limit of a plan at its value and one past it. */
import t from 'tap'
import { codehostLimits } from '../../../src/codehost/constants.js'
import {
  contentsPerMinuteMax, getsPerMinuteMax, keptLimits, planLimitMax, planProblem,
  previewContentsMax, requireClosable,
} from '../../../src/codehost/plan/plan-limits.js'
import type { PlanCounts, PlanLimitName } from '../../../src/codehost/plan/plan-limits.js'

const none: PlanCounts = {
  expectedFiles: 0, expectedBytes: 0, largestFileBytes: 0, treeEntries: 0, treeListingBytes: 0,
  posts: 0, historyEntryBytes: 0, closingGets: 0, closingRawBytes: 0, closingDecodedBytes: 0,
  largestTreeReplyBytes: 0, largestBlobReplyBytes: 0, changedPages: 0, earlierPosts: 0,
  loopback: true,
}

const mebibyte = 1024 * 1024

/** What each limit counts, the most that passes and the least that does not, as promised. */
const cases: Readonly<Record<PlanLimitName, [Partial<PlanCounts>, Partial<PlanCounts>]>> = {
  expected_files: [{ expectedFiles: 2000 }, { expectedFiles: 2001 }],
  expected_bytes: [{ expectedBytes: 64 * mebibyte }, { expectedBytes: 64 * mebibyte + 1 }],
  file_bytes: [{ largestFileBytes: 2 * mebibyte }, { largestFileBytes: 2 * mebibyte + 1 }],
  tree_entries: [{ treeEntries: 90_000 }, { treeEntries: 90_001 }],
  tree_listing_bytes: [{ treeListingBytes: 6_500_000 }, { treeListingBytes: 6_500_001 }],
  history_entry_bytes: [{ historyEntryBytes: 1000 }, { historyEntryBytes: 1001 }],
  history_entries: [{ posts: 2046 }, { posts: 2047 }],
  closing_gets: [{ closingGets: 4096 }, { closingGets: 4097 }],
  closing_raw_bytes: [
    { closingRawBytes: 192 * mebibyte }, { closingRawBytes: 192 * mebibyte + 1 },
  ],
  closing_decoded_bytes: [
    { closingDecodedBytes: 128 * mebibyte }, { closingDecodedBytes: 128 * mebibyte + 1 },
  ],
  tree_reply_bytes: [
    { largestTreeReplyBytes: 32 * mebibyte }, { largestTreeReplyBytes: 32 * mebibyte + 1 },
  ],
  blob_reply_bytes: [
    { largestBlobReplyBytes: 3 * mebibyte }, { largestBlobReplyBytes: 3 * mebibyte + 1 },
  ],
  changed_pages: [{ changedPages: 20 }, { changedPages: 21 }],
  posts_an_hour: [
    { posts: 80, earlierPosts: 400, loopback: false },
    { posts: 81, earlierPosts: 400, loopback: false },
  ],
  closing_gets_remote: [
    { closingGets: 800, loopback: false }, { closingGets: 801, loopback: false },
  ],
}

t.test('a plan at a limit passes, and one past it is refused with the name of the limit', async (t) => {
  t.strictSame(Object.keys(cases).sort(), Object.keys(planLimitMax).sort())
  for (const [name, [most, past]] of Object.entries(cases)) {
    t.equal(planProblem({ ...none, ...most }), null, name)
    requireClosable({ ...none, ...most })
    t.throws(() => requireClosable({ ...none, ...past }), {
      code: 'plan_not_closable', kind: 'rejected', reason: name, details: { limit: name },
    }, name)
  }
})

t.test('on this machine nobody counts POSTs an hour or reads a minute', async (t) => {
  t.equal(planProblem({ ...none, posts: 2000, earlierPosts: 9999, closingGets: 4096 }), null)
  t.matchStrict(planProblem({ ...none, posts: 481, loopback: false }), {
    limit: 'posts_an_hour', value: 481, max: 480,
  })
})

t.test('a preparation and the preview behind it stay below what a host allows a minute, and in their time', async (t) => {
  const hostAllows = 900
  const others = 20
  t.ok(contentsPerMinuteMax + previewContentsMax + others <= hostAllows)
  t.ok(getsPerMinuteMax + others <= hostAllows)
  const minutes = Math.ceil(planLimitMax.expected_files / contentsPerMinuteMax) - 1
  t.ok(minutes * 60_000 < codehostLimits.blobsMsMax)
})

t.test('histories and journals hold what the other limits let through', async (t) => {
  const { history_entries, history_entry_bytes, closing_gets } = planLimitMax
  t.ok(history_entries * history_entry_bytes < keptLimits.historyBytesMax)
  t.ok(closing_gets * keptLimits.receiptBytesMax < keptLimits.journalsBytesMax)
})

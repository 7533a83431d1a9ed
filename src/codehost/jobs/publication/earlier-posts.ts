/**
 * How many creations a token has asked for lately, over all connections: hosts count by the token,
 * and what may have been sent counts as sent.
 */
import { isoFromMs } from '../../../base/clock.js'
import { rowsUnder } from '../../../state/indexes.js'
import type { View } from '../../../state/types.js'
import { effectHistory, jobEntries } from '../histories.js'
import { hourOf, jobCollection, jobsByToken } from '../rows.js'

/** The time that a host counts over. */
export const postsWindowMs = 3_600_000

/**
 * POSTs of a token in the 60 minutes before `nowMs`. Read are the jobs that changed within them and
 * no others.
 */
export const earlierPosts = (
  view: View, tokenFingerprint: string, nowMs: number,
): number => {
  const since = isoFromMs(nowMs - postsWindowMs)
  return rowsUnder(view, jobCollection, jobsByToken, {
    under: [tokenFingerprint], from: hourOf(since),
  }).filter(({ doc }) => doc.updated_at >= since)
    .flatMap(({ id }) => jobEntries(view, effectHistory, id))
    .filter((entry) => entry.type === 'contacted' && entry.at >= since)
    .length
}

/**
 * How many creations a token has asked for lately, over all connections: hosts count by the token,
 * and what may have been sent counts as sent.
 */
import { isoFromMs } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { planLimitMax } from '../plan/plan-limits.js'
import { effectHistory, jobEntries } from './histories.js'
import { hourOf, jobCollection, jobsByState, jobsByToken, type Job } from './job-rows.js'

/** The time that a host counts over. */
const postsWindowMs = 3_600_000

/**
 * POSTs of a token in the 60 minutes before `nowMs`. Read are the jobs that changed within them and
 * no others.
 */
export const earlierPosts = (view: View, tokenFingerprint: string, nowMs: number): number => {
  const since = isoFromMs(nowMs - postsWindowMs)
  return rowsUnder(view, jobCollection, jobsByToken, {
    under: [tokenFingerprint], from: hourOf(since),
  }).filter(({ doc }) => doc.updated_at >= since)
    .flatMap(({ id }) => jobEntries(view, effectHistory, id))
    .filter((entry) => entry.type === 'contacted' && entry.at >= since)
    .length
}

/** POSTs that other jobs of the token, which run now, have not sent yet. */
const stillComing = (view: View, { job_id: own, token_fingerprint: token }: Job): number =>
  rowsUnder(view, jobCollection, jobsByState, { under: ['running'] })
    .filter(({ id, doc }) => id !== own && doc.token_fingerprint === token)
    .reduce((sum, { doc: { plan, contacted } }) => sum + plan.effects - contacted, 0)

/**
 * What was planned an hour ago may be too much by now. Throws `blocked` `posts_an_hour` where a job
 * would take its token above what is created within 60 minutes; at a host on this machine nobody
 * counts.
 */
export const requireHourly = (gov: Gov, view: View, job: Job): void => {
  if (deploymentProfile(gov.store).loopback) return
  const earlier = earlierPosts(view, job.token_fingerprint, gov.clock.wallMs())
    + stillComing(view, job)
  const [needed, max] = [job.plan.effects - job.created, planLimitMax.posts_an_hour]
  if (earlier + needed <= max) return
  throw fail.blocked(
    'posts_an_hour', `This token would create more than ${max} things within 60 minutes.`, {
      next: `${job.contacted > 0 ? 'No more' : 'Nothing'} of it was sent. `
        + 'Try again when the hour is over.',
      details: { job_id: job.job_id, earlier, needed, limit: max },
    },
  )
}

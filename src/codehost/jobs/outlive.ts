/** Whether consent, session and its idle time outlive what a job takes at least. */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import { collections } from '../../governance/rows.js'
import { rootEndsMs } from '../../governance/session/live.js'
import type { View } from '../../state/types.js'
import { postLimits } from '../plan/plan-limits.js'
import { endedHint } from './close-line.js'
import type { Job } from './job-rows.js'

/** How long a job takes at least, and how much of its consent and session is left. */
export interface JobTime {
  readonly neededMs: number
  readonly consentLeftMs: number
  /** Until the session ends unless it is used again. */
  readonly sessionLeftMs: number
}

/** Milliseconds that the POSTs of a job take at least. */
const spacingMs = (gov: Gov): number =>
  (deploymentProfile(gov.store).loopback ? 0 : postLimits.spacingMs)

/** The time of what is left of a job, as of one view. */
export const jobTime = (
  gov: Gov, view: View, job: Pick<Job, 'plan' | 'created' | 'consent' | 'root'>,
): JobTime => {
  const nowMs = gov.clock.wallMs()
  return {
    neededMs: (job.plan.effects - job.created) * spacingMs(gov),
    consentLeftMs: Math.max(0, msFromIso(job.consent.expires_at) - nowMs),
    sessionLeftMs: Math.max(0, rootEndsMs(view, gov, job.root) - nowMs),
  }
}

const isLongEnough = ({ neededMs, consentLeftMs, sessionLeftMs }: JobTime): boolean =>
  Math.min(consentLeftMs, sessionLeftMs) > neededMs

/** Whether consent and session last for what is left of a job, once its session is used again. */
export const isInTime = (gov: Gov, view: View, job: Job): boolean => {
  const root = view.get(collections.roots, job.root)
  const endsMs = root === undefined ? 0 : msFromIso(root.expires_at)
  return isLongEnough({
    ...jobTime(gov, view, job), sessionLeftMs: Math.max(0, endsMs - gov.clock.wallMs()),
  })
}

/** Throws `unauthorized` `codehost_too_short` where the job would outlive what it rests on. */
export const requireOutlives = (gov: Gov, view: View, job: Job): void => {
  const time = jobTime(gov, view, job)
  if (isLongEnough(time)) return
  const { neededMs, consentLeftMs, sessionLeftMs } = time
  const leftMs = Math.min(consentLeftMs, sessionLeftMs)
  throw fail.unauthorized(
    'codehost_too_short', 'The consent or the session would end before this job.', {
      reason: consentLeftMs <= sessionLeftMs ? 'consent' : 'session',
      next: endedHint(gov, view, job, 'Consent anew for long enough, then prepare it again.'),
      details: {
        needed_ms: neededMs, left_ms: leftMs, until: isoFromMs(gov.clock.wallMs() + leftMs),
      },
    },
  )
}

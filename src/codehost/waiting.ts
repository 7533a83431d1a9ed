/** What of the code host waits for a person: jobs, the worst first, then consents that ended. */
import { countText } from '../base/counted.js'
import { grantStateAt, listConnections } from '../governance/connections/find-connection.js'
import type { Session } from '../governance/context.js'
import {
  grouped, someOf, type FindWaiting, type Looking, type OwnWaiting,
} from '../governance/waiting.js'
import { consentLine } from './consent-line.js'
import type { CodehostAction } from './constants.js'
import { openJobCount, openJobs } from './jobs/list.js'
import type { JobState } from './jobs/job-rows.js'

/** Jobs of one state that are told one by one, the newest. */
const jobsMax = 50

/** States in which a job waits for a person, the worst first. */
const waitingJobs: readonly JobState[] = [
  'unknown_external_effect', 'failed', 'blocked', 'prepared', 'approved',
]

const listOf = (state: JobState): string => `sallyport codehost jobs --state ${state}`

const ownJobs = ({ gov, view }: Looking, session: Session): readonly OwnWaiting[] =>
  waitingJobs.flatMap((state) => {
    const all = openJobs(gov, view, session, state).flatMap(({ way: { text, command } }) =>
      (command === null ? [] : [{
        what: 'job' as const, count: 1, text: text.replace(/^It /, 'A job of the code host '),
        command,
      }]))
    const rest = all.length - jobsMax
    return rest <= 0 ? all : [...all.slice(0, jobsMax), {
      what: 'job', count: rest, text: `${countText(rest, 'more job')} ${rest === 1
        ? 'waits' : 'wait'}.`, command: listOf(state),
    }]
  })

const whatOf = {
  unknown_external_effect: 'what they did was read back by nobody', failed: 'the host refused them',
} as const

/** How many there are, whoever's they are: nobody in particular is told no id. */
const anybodysJobs = ({ view }: Looking): readonly OwnWaiting[] =>
  (['unknown_external_effect', 'failed'] as const).flatMap((state) => {
    const count = openJobCount(view, state)
    return count === 0 ? [] : [{
      what: 'job', count, command: listOf(state),
      text: `${countText(count, 'job')} of all owners: ${whatOf[state]}.`,
    }]
  })

/**
 * Free connections whose consent has run out: nothing is written through them. Of one that a job
 * occupies that job is told; no consent is given until then.
 */
const expired = ({ gov, view }: Looking, session: Session): readonly OwnWaiting[] => {
  const lying = gov.store.stops.lying()
  const found = listConnections(view, session).filter((one) =>
    one.mode === 'active' && one.active_job_id === null
    && grantStateAt(gov, view, one, lying) === 'expired')
  return grouped('consent', someOf(found), {
    one: 'The consent of one connection has expired: nothing is written through it.',
    many: (count) => `The consents of ${count} connections have expired.`,
    commandOf: (one) => consentLine(one, (one.consent?.actions ?? []) as CodehostAction[]),
    list: 'sallyport codehost connections --grants',
  })
}

/** Of whoever looks. */
export const codehostWaiting: FindWaiting = (looking) => (looking.session === null
  ? anybodysJobs(looking)
  : [...ownJobs(looking, looking.session), ...expired(looking, looking.session)])

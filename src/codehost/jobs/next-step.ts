/** What a job waits for, whether its connection stays occupied, and what a person can do. */
import {
  isGivenUpPartly, isIdle, isLeftUnproved, isUnread, needsApprovalAgain, unreadText,
} from './change.js'
import { connectAnew } from './connect-anew.js'
import { followThroughKind } from './kinds.js'
import type { Job } from './job-rows.js'

/** The way on from where a job stands. */
export interface NextStep {
  readonly text: string
  /** Null where nothing is left to do. */
  readonly command: string | null
  /** Whether the block can never clear, so that the connection stays occupied for good. */
  readonly forGood: boolean
}

/** Revision of its connection, as far as whoever asks knows it. */
type Revision = number | undefined

const reconcileWay = ({ job_id: id }: Job, revision: Revision, text: string): NextStep => ({
  text, forGood: false,
  command: `sallyport codehost recover reconcile ${id} --expected-revision ${revision ?? 'N'}`,
})

/**
 * Only what the host numbers by its reply cannot be found again: it is the last effect of a job. Of
 * one that an old copy of the state knows nothing of, nobody knows what to look for.
 */
const isLost = ({ remote, contacted, plan }: Job): boolean =>
  remote === null && (contacted === plan.effects || contacted === 0)

/** What a person found on the host, of a job whose reply told no number. */
const numberFlag = ({ native_kind: kind }: Job): string =>
  (kind === followThroughKind ? '--remote-id N' : '--pr-number N')

/**
 * The line that asks for the closure of what a job occupies, whole but for the acknowledgment: that
 * is asked for, unchecked. With the number that a person has to find where no reply told it.
 */
export const closeCapacityLine = (job: Job, revision: Revision): string => [
  `sallyport codehost close-capacity ${job.job_id} --expected-job-revision ${job.revision}`,
  `--expected-connection-revision ${revision ?? 'N'}`,
  `--expected-connection-fence ${job.fence ?? 'N'}`,
  ...(job.contacted > 0 && isLost(job) ? [numberFlag(job)] : []),
].join(' ')

const lostText = 'The reply with its number was lost; nothing is searched for or sent again. '
  + 'Look on the host for it'

/** Where a closure can read by a number that a person found, the connection is not lost. */
const lostWay = (job: Job, revision: Revision): NextStep =>
  (job.contacted > 0
    ? {
      text: `${lostText}: with its number the connection can be freed. It stays occupied until `
        + 'then.',
      command: closeCapacityLine(job, revision), forGood: false,
    }
    : {
      text: `${lostText}. The connection stays occupied.`, command: connectAnew(job), forGood: true,
    })

/** What was seen of a creation that nobody knows the end of; empty where nothing was. */
const seenOf = ({ reason, retry_at: until }: Job): string => {
  const status = /^(?:status_)(\d{3})$/.exec(reason ?? '')?.[1]
  if (status !== undefined) {
    return `The host answered with status ${status}, which proves neither that it was made nor `
      + 'that it was not. '
  }
  if (reason === 'interrupted_after_contact') return 'It was interrupted. '
  if (reason === 'codehost_rate_limited') {
    return `The host takes no more requests of this token${untilText(until)}. `
  }
  if (reason === 'reply_differs') return 'The host told another text than was sent. '
  return reason?.startsWith('reply_other_') === true
    ? 'What the host named in its reply is only like what was sent. ' : ''
}

/** When the token may come back, where the host said so. */
const untilText = (until: string | undefined): string =>
  (until === undefined ? '' : ` until ${until}`)

const unknownWay = (job: Job, revision: Revision): NextStep => {
  const way = isLost(job) ? lostWay(job, revision)
    : reconcileWay(job, revision, 'It may have happened and was not read back. Reading it back '
      + 'settles it; the connection stays occupied until then.')
  return { ...way, text: seenOf(job) + way.text }
}

const resumeWay = ({ job_id }: Job, text: string): NextStep =>
  ({ text, command: `sallyport codehost run ${job_id} --resume`, forGood: false })

/** Nothing was sent; what was done on this machine may not be over. */
const unprovedWay = (job: Job, revision: Revision): NextStep => (isGivenUpPartly(job)
  ? {
    text: 'It was given up before anything of it was sent, and its local work was begun. The '
      + 'connection stays occupied until the end of that is proved: close its capacity.',
    command: closeCapacityLine(job, revision), forGood: false,
  } : begunWay(job))

const begunWay = (job: Job): NextStep => (isLeftUnproved(job)
  ? {
    text: 'Nothing of it was sent, but nothing proves that all of its local work has ended, and '
      + 'it is done once only. The connection stays occupied: use another one.',
    command: connectAnew(job), forGood: true,
  } : resumeWay(job, 'Nothing of it was sent, but its local work was begun and nobody saw its end. '
    + 'Going on looks for the proof; the connection stays occupied until then.'))

const blockedWay = (job: Job, revision: Revision): NextStep => {
  if (isUnread(job) && isIdle(job)) {
    return {
      text: `${unreadText} Nothing goes on with this one: give it up.`,
      command: `sallyport codehost cancel ${job.job_id}`, forGood: false,
    }
  }
  if (needsApprovalAgain(job)) {
    return {
      text: 'Nothing of it was begun; the connection is free. Its approval was for that run: look '
        + 'at it, approve it again, and run it.',
      command: `sallyport codehost preview ${job.job_id}`, forGood: false,
    }
  }
  if (job.contacted === 0) {
    return job.reserved
      ? unprovedWay(job, revision)
      : resumeWay(job, 'Nothing of it was sent; the connection is free.')
  }
  if (job.reason === 'remote_taken') {
    return {
      text: 'The host gave it the number of something that another job was proved by: one of the '
        + 'two was never made. Look on the host. The connection stays occupied: use another one.',
      command: connectAnew(job), forGood: true,
    }
  }
  if (isGivenUpPartly(job)) {
    return {
      text: 'It was given up with a part of it made: that stands, and the rest is never sent. The '
        + 'connection stays occupied until that part is proved: close its capacity.',
      command: closeCapacityLine(job, revision), forGood: false,
    }
  }
  return job.created < job.plan.effects
    ? resumeWay(job, 'Some of it was made, and the rest was never sent. The connection stays '
      + 'occupied until all of it is.')
    : reconcileWay(job, revision, 'It happened and was read back, but what it rests on changed '
      + 'meanwhile, so it does not count as done. The connection stays occupied.')
}

/** Why the host refused it. */
const refusalText = ({ reason, retry_at: until }: Job): string => {
  if (reason === 'codehost_rate_limited') {
    return `for a limit of its token, which lasts${untilText(until) || ' a while'}`
  }
  if (reason === 'codehost_token_refused') return 'for its token'
  const status = /^(?:status_)(\d{3})$/.exec(reason ?? '')?.[1]
  return status === undefined ? 'whole' : `with status ${status}`
}

const failedWay = (job: Job): NextStep => (job.reserved
  ? {
    text: `The host refused it ${refusalText(job)}: its whole reply proves that, and the digest of `
      + 'it is in the history of effects. It is never sent again. A refusal proves no absence, and '
      + 'what was not made cannot be read back: the connection stays occupied, use another one.',
    command: connectAnew(job), forGood: true,
  }
  : {
    text: 'Its local work ended before anything was sent, and is done once only. The connection is '
      + 'free: prepare it anew.',
    command: null, forGood: false,
  })

const cancelledWay = (job: Job): NextStep => ({
  text: isUnread(job) ? unreadText : 'It was cancelled; nothing of it was sent.',
  command: null, forGood: false,
})

/**
 * The way on by the row of a job alone; `nextStepNow` asks what else it rests on, too. Total.
 */
export const nextStep = (job: Job, revision?: number): NextStep => {
  const id = job.job_id
  if (job.closed !== null) {
    return {
      text: 'Its capacity was closed by proof: the connection is free, nothing else of it changed, '
        + 'and it never runs again.',
      command: `sallyport codehost recover closures ${job.closed.closure_id}`, forGood: false,
    }
  }
  switch (job.state) {
    case 'prepared':
      return {
        text: 'It waits to be looked at and approved.', forGood: false,
        command: `sallyport codehost preview ${id}`,
      }
    case 'approved':
      return {
        text: 'It waits to be run.', command: `sallyport codehost run ${id}`, forGood: false,
      }
    case 'running':
      return {
        text: 'A process works on it.', command: `sallyport codehost jobs ${id}`, forGood: false,
      }
    case 'succeeded':
      return { text: 'It happened and was read back.', command: null, forGood: false }
    case 'unknown_external_effect': return unknownWay(job, revision)
    case 'blocked': return blockedWay(job, revision)
    case 'failed': return failedWay(job)
    case 'cancelled': return cancelledWay(job)
  }
}

/** What a job waits for, whether its connection stays occupied, and what a person can do. */
import { isGivenUpPartly, needsApprovalAgain } from './change.js'
import { connectAnew } from './connect-anew.js'
import { followThroughKind } from './kinds.js'
import type { Job } from './rows.js'

/** The way on from where a job stands. */
export interface WayOn {
  readonly text: string
  /** Null where nothing is left to do. */
  readonly command: string | null
  /** Whether the block can never clear, so that the connection stays occupied for good. */
  readonly forGood: boolean
}

/** Revision of its connection, as far as whoever asks knows it. */
type Revision = number | undefined

const reconcileWay = ({ job_id: id }: Job, revision: Revision, text: string): WayOn => ({
  text, forGood: false,
  command: `sallyport codehost reconcile ${id} --expected-read-revision ${revision ?? 'N'}`,
})

/**
 * Only what the host numbers by its reply cannot be found again: it is the last effect of a job. Of
 * one that an old copy of the state knows nothing of, nobody knows what to look for.
 */
const isLost = ({ remote, contacted, plan }: Job): boolean =>
  remote === null && (contacted === plan.effects || contacted === 0)

/** The line that asks for the closure of what a job occupies. */
export const closeCapacityLine = ({ job_id: id }: Pick<Job, 'job_id'>): string =>
  `sallyport codehost close-capacity ${id}`

const lostText = 'No reply told the number that the host gave it; nothing is searched for and '
  + 'nothing sent again. Look on the host whether it is there'

/** Where a closure can read by a number that a person found, the connection is not lost. */
const lostWay = (job: Job): WayOn =>
  (job.contacted > 0
    ? {
      text: `${lostText}: with its number the connection can be freed. It stays occupied until `
        + 'then.',
      command: `${closeCapacityLine(job)} `
        + `${job.native_kind === followThroughKind ? '--remote-id' : '--pr-number'} N`,
      forGood: false,
    }
    : {
      text: `${lostText}. The connection stays occupied.`, command: connectAnew(job), forGood: true,
    })

const unknownWay = (job: Job, revision: Revision): WayOn => {
  const way = isLost(job) ? lostWay(job)
    : reconcileWay(job, revision, 'It may have happened and was not read back. Reading it back '
      + 'settles it; the connection stays occupied until then.')
  return job.reason === 'interrupted_after_contact'
    ? { ...way, text: `It was interrupted. ${way.text}` } : way
}

const resumeWay = ({ job_id }: Job, text: string): WayOn =>
  ({ text, command: `sallyport codehost resume ${job_id}`, forGood: false })

/** Nothing was sent; what was done on this machine may not be over. */
const unprovedWay = (job: Job): WayOn => (job.reason === 'interrupted_after_spawn'
  ? resumeWay(job, 'Nothing of it was sent, but its local work was begun and nobody saw its end. '
    + 'Going on looks for the proof; the connection stays occupied until then.')
  : {
    text: 'Nothing of it was sent, but nothing proves that all of its local work has ended, and '
      + 'it is done once only. The connection stays occupied: use another one.',
    command: connectAnew(job), forGood: true,
  })

const blockedWay = (job: Job, revision: Revision): WayOn => {
  if (needsApprovalAgain(job)) {
    return {
      text: 'Nothing of it was begun; the connection is free. Its approval was for that run: look '
        + 'at it, approve it again, and run it.',
      command: `sallyport codehost preview ${job.job_id}`, forGood: false,
    }
  }
  if (job.contacted === 0) {
    return job.reserved
      ? unprovedWay(job) : resumeWay(job, 'Nothing of it was sent; the connection is free.')
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
      command: closeCapacityLine(job), forGood: false,
    }
  }
  return job.created < job.plan.effects
    ? resumeWay(job, 'Some of it was made, and the rest was never sent. The connection stays '
      + 'occupied until all of it is.')
    : reconcileWay(job, revision, 'It happened and was read back, but what it rests on changed '
      + 'meanwhile, so it does not count as done. The connection stays occupied.')
}

const failedWay = (job: Job): WayOn => (job.reserved
  ? {
    text: 'The host refused it; it is never sent again. The connection stays occupied: use '
      + 'another one.',
    command: connectAnew(job), forGood: true,
  }
  : {
    text: 'Its local work ended before anything was sent, and is done once only. The connection is '
      + 'free: prepare it anew.',
    command: null, forGood: false,
  })

/**
 * The way on by the row of a job alone; `wayOnNow` asks what else it rests on, too. Total.
 */
export const wayOn = (job: Job, revision?: number): WayOn => {
  const id = job.job_id
  if (job.closed !== null) {
    return {
      text: 'Its capacity was closed by proof: the connection is free, nothing else of it changed, '
        + 'and it never runs again.',
      command: `sallyport codehost closures ${job.closed.closure_id}`, forGood: false,
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
        text: 'A process works on it.', command: `sallyport codehost job ${id}`, forGood: false,
      }
    case 'succeeded':
      return { text: 'It happened and was read back.', command: null, forGood: false }
    case 'unknown_external_effect': return unknownWay(job, revision)
    case 'blocked': return blockedWay(job, revision)
    case 'failed': return failedWay(job)
    case 'cancelled':
      return { text: 'It was cancelled; nothing of it was sent.', command: null, forGood: false }
  }
}

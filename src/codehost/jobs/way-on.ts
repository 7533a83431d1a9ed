/** What a job waits for, whether its connection stays occupied, and what a person can do. */
import type { Job } from './rows.js'

/** The way on from where a job stands. */
export interface WayOn {
  readonly text: string
  /** Null where nothing is left to do. */
  readonly command: string | null
  /** Whether the block can never clear, so that the connection stays occupied for good. */
  readonly forGood: boolean
}

const connectAnew = 'sallyport codehost connect --repo OWNER/NAME --token-file F'

const unknownWay = (job: Job): WayOn => (job.remote === null
  ? {
    text: 'Its reply was lost, so nobody knows the number that the host gave it; nothing is '
      + 'searched for and nothing sent again. Look on the host whether it is there. The connection '
      + 'stays occupied.',
    command: connectAnew, forGood: true,
  }
  : {
    text: 'It may have happened and was not read back. Reading it back settles it; the connection '
      + 'stays occupied until then.',
    command: `sallyport codehost reconcile ${job.job_id} --expected-read-revision N`,
    forGood: false,
  })

const blockedWay = (job: Job): WayOn => (job.contacted > 0
  ? {
    text: 'It happened and was read back, but what it rests on changed meanwhile, so it does not '
      + 'count as done. The connection stays occupied.',
    command: `sallyport codehost reconcile ${job.job_id} --expected-read-revision N`,
    forGood: false,
  }
  : {
    text: 'Nothing of it was sent; the connection is free.',
    command: `sallyport codehost resume ${job.job_id}`, forGood: false,
  })

/** The way on. Total. */
export const wayOn = (job: Job): WayOn => {
  const id = job.job_id
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
    case 'unknown_external_effect': return unknownWay(job)
    case 'blocked': return blockedWay(job)
    case 'failed':
      return {
        text: 'The host refused it; it is never sent again. The connection stays occupied: use '
          + 'another one.',
        command: connectAnew, forGood: true,
      }
    case 'cancelled':
      return { text: 'It was cancelled; nothing of it was sent.', command: null, forGood: false }
  }
}

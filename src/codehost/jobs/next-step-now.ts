/**
 * The way on of a job as everything that it rests on stands at this moment. Its own row does not
 * tell that its session ended, its consent was taken back, its token is another one or its
 * connection is gone: what asks for the way on asks here, so that no command is named that would be
 * refused for one of these.
 */
import { findTask } from '../../governance/board/place.js'
import type { Gov } from '../../governance/context.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import { orUndefined, type Phase } from '../../governance/judge/fact.js'
import { liveRoot } from '../../governance/session/live.js'
import { vaultDigest } from '../../governance/vault.js'
import type { View } from '../../state/types.js'
import { codehostBase } from '../context.js'
import { writeDenials, type WriteDenial } from './boundary.js'
import { isGivenUpPartly, isIdle, isUnread } from './change.js'
import { connectAnew } from './connect-anew.js'
import type { Job } from './job-rows.js'
import { closeLineNow } from './close-line.js'
import { closeCapacityLine, nextStep, type NextStep } from './next-step.js'
import { isInTime } from './outlive.js'
import { canRunHere, isStageHere } from './publication/stage-machine.js'

/** A job with its way on at the moment at which it was looked at. */
export interface JobOnItsWay {
  readonly job: Job
  readonly way: NextStep
}

const nothing = { command: null, forGood: false } as const

const isLive = (gov: Gov, view: View, job: Job): boolean =>
  orUndefined(() => liveRoot(view, gov, job.root)) !== undefined

/** What no reading, closing or sending can do without, in the words that are told. */
const lastingProblem = (gov: Gov, view: View, job: Job): string | null => {
  const connection = view.get(connectionCollection, job.connection_id)
  if (connection === undefined) {
    return 'The state that was put back knows no such connection, so nothing of it can be read '
      + 'back from here: look on the host.'
  }
  if (!isLive(gov, view, job)) {
    return 'Its session has ended, and no other takes it over: look on the host. The connection '
      + 'stays occupied.'
  }
  return vaultDigest(view, connection.credential_ref) === job.vault.sha256 ? null
    : 'The connection has another token than it was written with, and nothing is read back with '
      + 'that: look on the host. The connection stays occupied.'
}

/** Denials that a person ends by doing what the way on names. */
const waitsForAPerson: readonly WriteDenial[] = ['approval_missing']

const denialsOf = (
  gov: Gov, view: View, job: Job, phase: Phase = 'preflight',
): readonly WriteDenial[] =>
  (orUndefined(() => writeDenials({ gov, sealedHost: codehostBase(gov) }, view, job, phase)) ?? [])
    .map(({ name }) => name as WriteDenial).filter((name) => !waitsForAPerson.includes(name))

/** Whether what is left of a job would be sent now, as far as rows and time tell. */
const canGoOn = (gov: Gov, view: View, job: Job): boolean =>
  denialsOf(gov, view, job).length === 0
  && orUndefined(() => isInTime(gov, view, job)) !== false

/** Of a job that occupies its connection. */
const occupiedWay = (
  gov: Gov, view: View, job: Job, way: NextStep, revision: number | undefined,
): NextStep => {
  const lasting = lastingProblem(gov, view, job)
  if (lasting !== null) return { text: lasting, command: connectAnew(job), forGood: true }
  if (job.state !== 'blocked' || isGivenUpPartly(job)) return way
  const close = { command: closeCapacityLine(job, revision), forGood: false }
  if (job.contacted === 0) {
    return canGoOn(gov, view, job) ? way : {
      text: 'Its local work was begun, and what it was prepared under has ended or ends too soon: '
        + 'nothing of it is sent. The connection stays occupied until the end of that work is '
        + 'proved: close its capacity.',
      ...close,
    }
  }
  if (job.created < job.plan.effects) {
    return canGoOn(gov, view, job) ? way : {
      text: 'A part of it was made, and what it was prepared under has ended or ends too soon: the '
        + 'rest is never sent. The connection stays occupied until that part is proved: close its '
        + 'capacity.',
      ...close,
    }
  }
  return denialsOf(gov, view, job, 'adopt').length === 0 ? way : {
    text: 'It happened and was read back, and what it rests on changed meanwhile: it does not '
      + 'count as done, and no reading makes it count. Closing its capacity frees the connection.',
    ...close,
  }
}

/** A success that was proved by a later readback, and that the board has not taken over. */
const succeededWay = (gov: Gov, view: View, job: Job, way: NextStep): NextStep => {
  const task = job.task_id === null ? undefined : findTask(view, job.task_id)
  if (task?.state !== 'blocked') return way
  const text = 'It happened and was read back after its run'
  if (denialsOf(gov, view, job, 'adopt').length === 0) {
    return {
      text: `${text}: its task counts as done once you adopt it.`,
      command: `sallyport codehost recover adopt ${job.job_id}`, forGood: false,
    }
  }
  const why = isLive(gov, view, job)
    ? 'What it was prepared under does not stand any more' : 'Its session has ended'
  return { text: `${text}. ${why}: its task stays blocked.`, ...nothing }
}

/** Of a job that waits to be sent and occupies nothing. */
const waitingWay = (gov: Gov, view: View, job: Job, way: NextStep): NextStep =>
  (isUnread(job) || canGoOn(gov, view, job) ? way : {
    text: 'What it was prepared under has ended or ends too soon, and nothing new takes it over: '
      + 'prepare it anew, and give this one up. Nothing of it was sent.',
    command: `sallyport codehost cancel ${job.job_id}`, forGood: false,
  })

const wayOfRows = (gov: Gov, view: View, job: Job, revision: number | undefined): NextStep => {
  const way = nextStep(job, revision)
  if (way.forGood || job.closed !== null) return way
  if (isIdle(job)) return waitingWay(gov, view, job, way)
  if (job.state === 'succeeded') return succeededWay(gov, view, job, way)
  return job.reserved && job.state !== 'running'
    ? occupiedWay(gov, view, job, way, revision) : way
}

/** Commands that work with the stage of a publication. */
const ofStage = /^sallyport codehost (?:run|publish|close-capacity) /

/** Another machine is named where the way on is one of its folders. */
const whereItLies = ({ store }: Gov, view: View, job: Job, way: NextStep): NextStep => {
  const { command } = way
  if (command === null || isStageHere(store, view, job) || !ofStage.test(command)) return way
  const closes = command.includes(' close-capacity ')
  if (!closes && canRunHere(store, view, job)) return way
  return { ...way, text: `${way.text} Its stage lies on another machine: do this there.` }
}

/** The way on now. Total. */
export const nextStepNow = (gov: Gov, view: View, job: Job): NextStep => {
  const revision = view.get(connectionCollection, job.connection_id)?.revision
  const way = whereItLies(gov, view, job, wayOfRows(gov, view, job, revision))
  return way.command === closeCapacityLine(job, revision)
    ? { ...way, command: closeLineNow(gov, job, revision) } : way
}

export const onItsWay = (gov: Gov, view: View, job: Job): JobOnItsWay =>
  ({ job, way: nextStepNow(gov, view, job) })

/** Agents of launchd: one a job, with the times at which it runs. Pure. */
import { join } from 'node:path'
import { fail } from '../../base/errors.js'
import type { PropertyDict } from '../launchd/property-list.js'
import { stopSecondsMin } from '../stop-seconds.js'
import {
  commandOf, restartSeconds, timerNames, wordsOf, type TimerJob, type TimerPlace,
} from './jobs.js'

/** An agent, by the label that launchd knows it by. */
export interface Agent {
  readonly label: string
  readonly list: PropertyDict
}

/** Comment of every agent of this program; a file without it is somebody else's. */
export const agentMark = 'Made by `sallyport timers install`, removed by `sallyport timers remove`.'

/** What the labels of all agents of one state begin with. `local` is nobody's domain. */
export const agentPrefix = (id: string): string => `local.sallyport.${id}.`

/** Labels that agents of one state may have. */
export const agentLabels = (id: string): readonly string[] =>
  timerNames.map((name) => `${agentPrefix(id)}${name}`)

export const agentFile = (label: string): string => `${label}.plist`

/** Where an agent tells what failed. */
export const agentLog = (logFolder: string, label: string): string =>
  join(logFolder, `${label}.log`)

/**
 * When an agent runs that is to run every so many minutes. What is due by the hour has times of the
 * clock: those that a Mac slept through become one run as it wakes. An interval that was slept
 * through is lost, and the next one follows within the hour.
 */
export const agentSchedule = (minutes: number): PropertyDict => {
  const hours = minutes / 60
  if (!Number.isInteger(hours) || 24 % hours !== 0) return { StartInterval: minutes * 60 }
  if (hours === 1) return { StartCalendarInterval: [{ Minute: 0 }] }
  return {
    StartCalendarInterval: Array.from({ length: 24 / hours }, (_, at) =>
      ({ Hour: at * hours, Minute: 0 })),
  }
}

/** launchd knows no exit status but 0: what failed is started again, whatever it failed by. */
const stays: PropertyDict = {
  RunAtLoad: true, KeepAlive: { SuccessfulExit: false }, ThrottleInterval: restartSeconds,
}

/** What launchd hands to umask(2): its property lists have no octal numbers. */
const ownerAlone = 0o077

const listOf = (
  label: string, job: TimerJob, place: TimerPlace, logFolder: string,
): PropertyDict => ({
  Label: label,
  ProgramArguments: commandOf(job, place),
  ...(job.minutes === null ? stays : agentSchedule(job.minutes)),
  StandardOutPath: '/dev/null',
  StandardErrorPath: agentLog(logFolder, label),
  // A request of a person waits for the service.
  ...(job.name === 'serve' ? {} : { ProcessType: 'Background' }),
  ExitTimeOut: stopSecondsMin,
  Umask: ownerAlone,
})

/** Throws `rejected` `timer_path`: no XML holds these two, however they are written. */
const requireXmlPaths = (paths: readonly string[]): void => {
  if (!paths.some((path) => /[\ufffe\uffff]/.test(path))) return
  throw fail.rejected('timer_path', 'A path has a character that no property list can hold.', {
    next: 'Rename the folder, or choose --with cron.',
  })
}

/** The agents of these jobs. Throws `rejected` `timer_path`. */
export const agentsOf = (
  id: string, jobs: readonly TimerJob[], place: TimerPlace, logFolder: string,
): readonly Agent[] => {
  requireXmlPaths([...wordsOf(jobs, place), logFolder])
  return jobs.map((job) => {
    const label = `${agentPrefix(id)}${job.name}`
    return { label, list: listOf(label, job, place, logFolder) }
  })
}

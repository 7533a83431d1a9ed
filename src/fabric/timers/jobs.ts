/** What runs by itself: jobs on timers and what stays, how often, by which command. Pure. */
import { createHash } from 'node:crypto'
import { fail } from '../../base/errors.js'
import type { ShotSettings } from '../../shots/source/settings.js'

/** Names of the jobs; the last two stay. */
export const timerNames = ['scan', 'analyze', 'digest', 'age', 'serve', 'edge'] as const

/** Whether that is what stays, and no job of a timer. */
export const isStaying = (name: TimerJob['name']): boolean => name === 'serve' || name === 'edge'

/** One job of a timer, or what stays. */
export interface TimerJob {
  readonly name: (typeof timerNames)[number]
  /** Words before the program: what sets its environment. */
  readonly before?: readonly string[]
  /** Words behind the program's own. */
  readonly words: readonly string[]
  /** Minutes from one run to the next; null for what is started once and stays. */
  readonly minutes: number | null
}

/** What is to stay running beside the timers. */
export interface Staying {
  readonly serve: boolean
  /** Folder of the device whose daemon is to stay; null for none. */
  readonly deviceDir: string | null
  /** Host and port by which devices elsewhere find the service; null for none. */
  readonly publicAt: string | null
}

/** The service and the daemon of a device, where they are asked for. */
export const stayingJobs = ({ serve, deviceDir, publicAt }: Staying): readonly TimerJob[] => [
  ...(serve ? [{
    name: 'serve', minutes: null,
    words: ['serve', ...(publicAt === null ? [] : ['--public', publicAt])],
  } as const] : []),
  // No flag names that folder, and what runs by itself has not the environment of a terminal.
  ...(deviceDir === null ? [] : [{
    name: 'edge', minutes: null, words: ['edge', 'daemon'],
    before: ['/usr/bin/env', `SALLYPORT_EDGE_DIR=${deviceDir}`],
  } as const]),
]

/** Seconds before what failed is started again. */
export const restartSeconds = 30

/** What the commands of a timer are made of. Nothing in it is a secret. */
export interface TimerPlace {
  /** Absolute paths of the interpreter and the program, as they run now. */
  readonly program: readonly string[]
  readonly stateDir: string
  readonly configDir: string
}

/**
 * The words of a command that does a job: program first. Both folders are flags, so that a command
 * which the job tells names both wherever it is typed.
 */
export const commandOf = (
  { words, before = [] }: TimerJob, { program, stateDir, configDir }: TimerPlace,
): readonly string[] =>
  [...before, ...program, ...words, '--state-dir', stateDir, '--config-dir', configDir]

const hour = 60

/**
 * The jobs that the settings ask for: scanning unless it is off; analysis and digests where
 * analysis is on; and, where an age is given, an hourly look whether new images still come; and
 * what is to stay. Throws `blocked` `timers_idle` where that is nothing.
 */
export const timerJobs = (
  settings: ShotSettings, maxAge: string | null, staying: readonly TimerJob[],
): readonly TimerJob[] => {
  const quiet = (verb: string, minutes: number, ...more: string[]): TimerJob => ({
    name: verb === 'status' ? 'age' : verb as TimerJob['name'], minutes,
    words: ['shots', verb, ...more, '--quiet'],
  })
  const analyses = settings.saved.analysis === 'on'
  const jobs: readonly TimerJob[] = [
    settings.ingestEnabled.value && quiet('scan', settings.ingestIntervalMinutes.value),
    analyses && quiet('analyze', Math.ceil(settings.analysisIntervalSeconds.value / 60)),
    analyses && settings.digestEnabled.value
      && quiet('digest', settings.digestIntervalMinutes.value),
    maxAge !== null && quiet('status', hour, '--max-age', maxAge),
    ...staying,
  ].filter((job) => job !== false)
  if (jobs.length > 0) return jobs
  throw fail.blocked('timers_idle', 'The settings ask for no job that a timer could run.', {
    next: 'Earlier timers go on; `sallyport timers remove` takes them out. `sallyport shots show` '
      + 'prints the settings.',
  })
}

/**
 * Tells the timers of one state directory from those of another: 8 hex digits of its path, in the
 * form in which two spellings of one place are equal.
 */
export const timerId = (stateDir: string): string =>
  createHash('sha256').update(stateDir).digest('hex').slice(0, 8)

/** Every word of the commands of these jobs. */
export const wordsOf = (jobs: readonly TimerJob[], place: TimerPlace): readonly string[] =>
  jobs.flatMap((job) => commandOf(job, place))

/** Throws `rejected` `timer_path` where a path cannot stand in a unit or a crontab. */
export const requirePlainPaths = (jobs: readonly TimerJob[], place: TimerPlace): void => {
  if (!wordsOf(jobs, place).some((word) => /[\u0000-\u001f\u007f]/.test(word))) return
  throw fail.rejected('timer_path', 'A path of the program or the state has a control character.', {
    next: 'Timers need paths of one printable line.',
  })
}

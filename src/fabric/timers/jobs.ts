/** Which jobs run on timers, how often, and by which command. Pure. */
import { createHash } from 'node:crypto'
import { fail } from '../../base/errors.js'
import type { ShotSettings } from '../../shots/source/settings.js'

/** Names of the jobs. */
export const timerNames = ['scan', 'analyze', 'digest', 'age'] as const

/** One job of a timer. */
export interface TimerJob {
  readonly name: (typeof timerNames)[number]
  /** Words behind the program's own. */
  readonly words: readonly string[]
  /** Minutes from one run to the next. */
  readonly minutes: number
}

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
  { words }: TimerJob, { program, stateDir, configDir }: TimerPlace,
): readonly string[] =>
  [...program, ...words, '--state-dir', stateDir, '--config-dir', configDir]

const hour = 60

/**
 * The jobs that the settings ask for: scanning unless it is off; analysis and digests where
 * analysis is on; and, where an age is given, an hourly look whether new images still come. Throws
 * `blocked` `timers_idle` where that is nothing.
 */
export const timerJobs = (settings: ShotSettings, maxAge: string | null): readonly TimerJob[] => {
  const quiet = (verb: string, minutes: number, ...more: string[]): TimerJob => ({
    name: verb === 'status' ? 'age' : verb as TimerJob['name'], minutes,
    words: ['shots', verb, ...more, '--quiet'],
  })
  const analyses = settings.saved.analysis === 'on'
  const jobs = [
    settings.ingestEnabled.value && quiet('scan', settings.ingestIntervalMinutes.value),
    analyses && quiet('analyze', Math.ceil(settings.analysisIntervalSeconds.value / 60)),
    analyses && settings.digestEnabled.value
      && quiet('digest', settings.digestIntervalMinutes.value),
    maxAge !== null && quiet('status', hour, '--max-age', maxAge),
  ].filter((job) => job !== false)
  if (jobs.length > 0) return jobs
  throw fail.blocked('timers_idle', 'The settings ask for no job that a timer could run.', {
    next: 'Look at them with `sallyport shots show`.',
  })
}

/**
 * Tells the timers of one state directory from those of another: 8 hex digits of its path, in the
 * form in which two spellings of one place are equal.
 */
export const timerId = (stateDir: string): string =>
  createHash('sha256').update(stateDir).digest('hex').slice(0, 8)

/** Throws `rejected` `timer_path` where a path cannot stand in a unit or a crontab. */
export const requirePlainPaths = ({ program, stateDir, configDir }: TimerPlace): void => {
  if (![...program, stateDir, configDir].some((path) => /[\u0000-\u001f\u007f]/.test(path))) return
  throw fail.rejected('timer_path', 'A path of the program or the state has a control character.', {
    next: 'Timers need paths of one printable line.',
  })
}

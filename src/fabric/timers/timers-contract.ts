/** What comes out of looking after timers. Nothing in it is a secret. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, count, nullableText, text } from '../../base/schema.js'
import { publicPlaceShape } from '../../net/public-place.js'
import { slotNames } from '../../gateway/constants.js'
import { timerNames } from './jobs.js'

/** What can run timers. */
export const schedulers = ['systemd', 'launchd', 'cron'] as const
/** One of them. */
export type Scheduler = (typeof schedulers)[number]

const timersShape = v.strictObject({
  /** What runs them; null where nothing is installed. */
  scheduler: v.nullable(v.picklist(schedulers)),
  /** Unit files or agents, by path, or lines of the crontab; a label for want of a file. */
  entries: v.array(text),
  /** How the agents of launchd stand; empty with any other. */
  agents: v.array(v.strictObject({
    /** As launchd knows it. */
    label: text,
    job: v.picklist(timerNames),
    /**
     * `not_loaded`: its file is there and launchd does not run it. `no_session`: nobody is logged
     * in at the screen; launchd loads it then. `stopped`: what is to stay ended well, and is not
     * started anew.
     */
    state: v.picklist(['waiting', 'running', 'stopped', 'not_loaded', 'no_session', 'unknown']),
    /** Runs since it was loaded; null where launchd does not tell. */
    runs: v.nullable(count),
    /** Exit status of the last run; null before the first, and where a signal ended it. */
    last_exit: v.nullable(count),
    last_signal: v.nullable(count),
    /** Where it tells what failed. */
    log: text,
  })),
  /** How the jobs stand with systemd; empty with any other. */
  units: v.array(v.strictObject({
    unit: text,
    /** The unit by which somebody starts it: the timer of a job, the service of what stays. */
    starts: text,
    job: v.picklist(timerNames),
    /**
     * `waiting`: for its time, or to be started anew. `failed`: nothing starts it anew.
     * `stopped`: somebody stopped it, or it ended well.
     */
    state: v.picklist(['waiting', 'running', 'failed', 'stopped', 'unknown']),
    /** Null before the first run since systemd began, while it runs, and where the other is not. */
    last_exit: v.nullable(count),
    last_signal: v.nullable(count),
  })),
  /** Whether user units go on while nobody is logged in; null where that is not known. */
  lingering: v.nullable(v.boolean()),
  /** Newest run of each job by its own receipts. */
  last_runs: v.nullable(v.strictObject({
    scan: nullableText, analyze: nullableText, digest: nullableText,
  })),
  /**
   * The newest scan where it could not read its folder, a recent digest with a failed window; a
   * whole analysis that failed is not told. The reason is a code, null where none was kept.
   */
  last_failures: v.array(v.strictObject({
    job: v.picklist(['scan', 'digest']), reason: nullableText,
  })),
  /** Proofs of the gateway, which go stale after a day; empty where no slot is set. */
  proofs: v.array(v.strictObject({
    slot: v.picklist(slotNames), state: v.picklist(['missing', 'current', 'stale']),
    age_seconds: v.nullable(count),
  })),
  /** Whether jobs renew proofs by themselves; null where the state was not asked. */
  renew_proof: v.nullable(v.boolean()),
})
/** What is installed and what it last did. */
export type Timers = v.InferOutput<typeof timersShape>

const parts = { document: 'timers', output: timersShape } as const

export const timersShow = contract({ ...parts, name: 'timers.show' })

export const timersInstall = contract({
  ...parts,
  name: 'timers.install',
  input: closedObject({
    /** Left out: launchd on a Mac, systemd where a user manager answers, else cron. */
    with: v.optional(v.picklist(schedulers)),
    /** An age such as 2h, for an hourly look whether images still come. */
    check_age: v.optional(v.string()),
    /** Where the units of systemd mail what failed; cron mails by itself, launchd nobody. */
    mail_to: v.optional(v.string()),
    /** Keep the service running, too. */
    serve: v.optional(v.boolean()),
    /** Where devices of other machines find that service. */
    public: v.optional(publicPlaceShape),
    /** Keep the daemon of this device running, too. */
    edge: v.optional(v.boolean()),
  }),
})

export const timersRemove = contract({ ...parts, name: 'timers.remove' })

/** The part of the answer that comes out of the state. */
export type TimerStatus = Pick<Timers, 'last_runs' | 'last_failures' | 'proofs' | 'renew_proof'>

/** Where no state was asked. */
export const noTimerStatus: TimerStatus =
  { last_runs: null, last_failures: [], proofs: [], renew_proof: null }

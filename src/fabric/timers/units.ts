/**
 * User units of systemd: a service and a timer a job, a service for what stays, and one that mails
 * what failed. Pure.
 */
import { exitStatus } from '../../base/outcome.js'
import { fail } from '../../base/errors.js'
import { stopSecondsMin } from '../stop-seconds.js'
import { commandOf, restartSeconds, type TimerJob, type TimerPlace } from './jobs.js'

/** A unit file. */
export interface UnitFile {
  readonly name: string
  readonly text: string
}

/** First line of every unit of this program; a file without it is somebody else's. */
export const unitMark =
  '# Made by `sallyport timers install`, removed by `sallyport timers remove`.'

/** What the names of all units of one state begin with. */
export const unitPrefix = (id: string): string => `sallyport-${id}-`

// A percent sign is a specifier, a dollar a variable, and both stand for themselves when doubled;
// but the program itself is never looked through for variables.
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')
const quoted = (text: string): string => `"${escaped(text)}"`
const argument = (text: string): string => quoted(text).replaceAll('$', '$$$$')
const lineOf = ([program = '', ...words]: readonly string[]): string =>
  [quoted(program), ...words.map(argument)].join(' ')

const serviceOf = (id: string, job: TimerJob, place: TimerPlace, mails: boolean): string => [
  unitMark,
  '[Unit]',
  `Description=Sallyport: ${job.name} (${id})`,
  ...(mails ? [`OnFailure=${unitPrefix(id)}mail@%n.service`] : []),
  '',
  '[Service]',
  ...(job.minutes === null ? stayLines : ['Type=oneshot']),
  ...stopLines,
  'UMask=0077',
  `ExecStart=${lineOf(commandOf(job, place))}`,
  'StandardOutput=null',
  // What is not said goes where stdout goes, and what failed would be told to nobody.
  'StandardError=journal',
  '',
  ...(job.minutes === null ? ['[Install]', `WantedBy=${stayTarget}`, ''] : []),
].join('\n')

/** What starts that which stays. */
export const stayTarget = 'default.target'

/** Ends after which the same line ends alike: a person has to do something first. */
const endsForGood = [
  exitStatus.usage, exitStatus.rejected, exitStatus.unauthorized, exitStatus.conflict,
  exitStatus.blocked, exitStatus.no_state, exitStatus.damaged,
]

const stayLines = [
  'Restart=on-failure',
  `RestartSec=${restartSeconds}`,
  `RestartPreventExitStatus=${endsForGood.join(' ')}`,
]

/**
 * The program ends what is under way by itself, and waits for the answer of a paid request; what it
 * started is killed behind it. Killed sooner, the charge would be unknown.
 */
const stopLines = ['KillMode=mixed', `TimeoutStopSec=${stopSecondsMin}`]

const timerOf = (id: string, name: string, minutes: number): string => [
  unitMark,
  '[Unit]',
  `Description=Sallyport: ${name} every ${minutes} min (${id})`,
  '',
  '[Timer]',
  'OnActiveSec=1min',
  `OnUnitInactiveSec=${minutes}min`,
  'AccuracySec=10s',
  '',
  '[Install]',
  'WantedBy=timers.target',
  '',
].join('\n')

/** At most one mail an hour for each job: a job that fails at every run must not fill a mailbox. */
const mailOf = (id: string, sendmail: string, mailTo: string): string => [
  unitMark,
  '[Unit]',
  `Description=Sallyport: mail about %i (${id})`,
  'StartLimitIntervalSec=1h',
  'StartLimitBurst=1',
  '',
  '[Service]',
  'Type=oneshot',
  'ExecStart=/bin/sh -c '
    + '"printf \'To: %%s\\\\nSubject: %%s failed\\\\n\\\\njournalctl --user -u %%s\\\\n\' '
    + '\\"$$1\\" \\"$$2\\" \\"$$2\\" | \\"$$0\\" -t" '
    + `${argument(sendmail)} ${argument(mailTo)} %i`,
  '',
].join('\n')

/** Throws `rejected` `timer_path` for an interpreter that systemd would not run. */
const requireUnitPath = ([interpreter = '']: readonly string[]): void => {
  if (!/["'\\]/.test(interpreter)) return
  throw fail.rejected('timer_path', 'The path of Node has a quote or a backslash in it.', {
    next: 'systemd runs no program of such a name; move it, or choose --with cron.',
  })
}

/** The units that are switched on: every timer, and every service that stays. */
export const startedUnits = (names: readonly string[]): readonly string[] =>
  names.filter((name) => /-(?:serve|edge)\.service$|\.timer$/.test(name))

/**
 * The unit files of these jobs. Throws `rejected` `timer_path`. `mail` names the program and the
 * address where one is wanted.
 */
export const unitsOf = (
  id: string, jobs: readonly TimerJob[], place: TimerPlace,
  mail: { readonly sendmail: string; readonly to: string } | null,
): readonly UnitFile[] => {
  requireUnitPath(place.program)
  const of = unitPrefix(id)
  return [
    ...jobs.flatMap((job) => [
      { name: `${of}${job.name}.service`, text: serviceOf(id, job, place, mail !== null) },
      ...(job.minutes === null ? []
        : [{ name: `${of}${job.name}.timer`, text: timerOf(id, job.name, job.minutes) }]),
    ]),
    ...(mail === null ? [] : [
      { name: `${of}mail@.service`, text: mailOf(id, mail.sendmail, mail.to) },
    ]),
  ]
}

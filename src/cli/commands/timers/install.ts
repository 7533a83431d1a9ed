import { join } from 'node:path'
import { Option } from 'commander'
import { fail, SallyportError } from '../../../base/errors.js'
import {
  noTimerStatus, timersInstall, schedulers, type Scheduler, type Timers,
} from '../../../fabric/timers/timers-contract.js'
import { agentFile, agentsOf, type Agent } from '../../../fabric/timers/agents.js'
import { cronLines, cronLinesOf, withBlock } from '../../../fabric/timers/crontab.js'
import {
  requirePlainPaths, stayingJobs, timerJobs, type TimerJob, type TimerPlace,
} from '../../../fabric/timers/jobs.js'
import { timerStatus } from '../../../fabric/timers/timer-status.js'
import { startedUnits, unitsOf, type UnitFile } from '../../../fabric/timers/units.js'
import type { Gov } from '../../../governance/context.js'
import { resolveSettings } from '../../../shots/source/settings.js'
import { choiceFlag, parseDuration, renamed } from '../../flags.js'
import { tell } from '../../output.js'
import { deviceDirOf } from '../../own-folders.js'
import { requestOf } from '../../request.js'
import { terminalSafe } from '../../text.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { readCrontab, writeCrontab } from './crontab-file.js'
import { findProgram, hasSystemd, ownId, systemctl } from './host.js'
import { oneAtATime } from './one-at-a-time.js'
import { foundTimers } from './found-timers.js'
import { dropLines, dropUnits, hasLines, tellWhatStays, timersText } from './timers.js'
import {
  agentFolder, agentTexts, logFolder, ownAgents, requireReadable,
} from './agent-files.js'
import { dropAgents, installAgents } from './agents.js'
import { tellOfStaying, tellWhatLacks } from './install-notes.js'
import { ownUnits, requireFreeUnits, unitFolder, writeUnits } from './unit-files.js'

type InstallOptions = LineOf<typeof timersInstall> & { readonly yes?: boolean }

type Request = ReturnType<typeof timersInstall.request>

const ageMs = { min: 60_000, max: 30 * 86_400_000 }

const requireUser = ({ self }: VerbDeps): void => {
  if (self.uid !== 0) return
  throw fail.blocked('timers_as_root', 'Timers are installed for a user, never for root.', {
    next: 'Run it as the user whose screenshots they are.',
  })
}

const mailOf = (deps: VerbDeps, scheduler: Scheduler, to: string | undefined) => {
  if (to === undefined) return null
  if (scheduler === 'cron') {
    throw fail.rejected('timer_mail', 'Cron mails whoever its crontab belongs to.', {
      next: 'Leave out --mail-to; a line MAILTO= in the crontab names somebody else.',
    })
  }
  if (scheduler === 'launchd') {
    throw fail.rejected('timer_mail', 'launchd mails nobody.', {
      next: 'Leave out --mail-to; what fails stands in the log that `sallyport timers show` names.',
    })
  }
  const sendmail = findProgram(deps, 'sendmail')
  const isAddress = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}(?:@[A-Za-z0-9][A-Za-z0-9.-]{0,250})?$/
  if (isAddress.test(to) && sendmail !== null) return { sendmail, to }
  throw fail.rejected('timer_mail', sendmail === null
    ? 'There is no sendmail on this machine.' : 'That is no plain mail address.', {
    next: 'What fails stands in `journalctl --user`, and the last runs in `sallyport timers show`.',
  })
}

interface Recipe {
  readonly shown: readonly string[]
  install(): Promise<void>
}

/** Earlier ones go once the new ones are written, so that a failure leaves one or the other. */
const installUnits = async (
  deps: VerbDeps, id: string, files: readonly UnitFile[],
): Promise<void> => {
  const names = files.map(({ name }) => name)
  const started = startedUnits(names)
  requireFreeUnits(deps, files)
  const inCron = await hasLines(deps, id)
  writeUnits(deps, files)
  await dropUnits(deps, ownUnits(deps, id).filter((name) => !names.includes(name)))
  await systemctl(deps, 'daemon-reload')
  await systemctl(deps, 'enable', ...started)
  // One that ran before goes on as it was written until it is started anew.
  await systemctl(deps, 'restart', ...started)
  await dropAgents(deps, id)
  if (inCron) await dropLines(deps, id)
}

const withUnits = (deps: VerbDeps, id: string, files: readonly UnitFile[]): Recipe => ({
  shown: files.flatMap(({ name, text }) => [join(unitFolder(deps), name), text]),
  install: () => installUnits(deps, id, files),
})

/** The crontab, and the same with these lines. Throws `failed` `crontab_missing`. */
const crontabWith = async (deps: VerbDeps, id: string, lines: readonly string[]) => {
  const crontab = await readCrontab(deps)
  if (crontab !== null) return { crontab, written: withBlock(id, crontab, lines) }
  throw fail.failed('crontab_missing', 'There is no program crontab on this machine.', {
    next: 'Install cron, or choose --with systemd.',
  })
}

const withCron = async (
  deps: VerbDeps, id: string, lines: readonly string[],
): Promise<Recipe> => {
  // What it would be refused for is told before anybody is asked; it may be another one by then.
  await crontabWith(deps, id, lines)
  return {
    shown: ['These lines at the end of your crontab, in place of earlier ones:', ...lines],
    async install() {
      const [{ crontab, written }, units]
        = [await crontabWith(deps, id, lines), ownUnits(deps, id)]
      requireReadable(deps, id)
      if (written !== crontab) await writeCrontab(deps, written)
      tellWhatStays(deps, cronLinesOf(id, crontab) ?? [], lines)
      await dropAgents(deps, id)
      await dropUnits(deps, units)
    },
  }
}

const withAgents = async (
  deps: VerbDeps, id: string, agents: readonly Agent[],
): Promise<Recipe> => {
  const texts = await agentTexts(agents)
  return {
    shown: texts.flatMap(({ name, text }) => [join(agentFolder(deps), name), text]),
    async install() {
      const [units, inCron] = [ownUnits(deps, id), await hasLines(deps, id)]
      await installAgents(deps, id, agents.map(({ label }) => label), texts)
      await dropUnits(deps, units)
      if (inCron) await dropLines(deps, id)
    },
  }
}

/** Throws `blocked` `launchd_missing`. */
const requireLaunchd = ({ system }: VerbDeps): void => {
  if (system.hasLaunchd) return
  throw fail.blocked('launchd_missing', 'launchd runs timers on macOS alone.', {
    next: 'Leave out --with: systemd is taken where it answers, else cron.',
  })
}

const chosen = async (deps: VerbDeps): Promise<Scheduler> => {
  if (deps.system.hasLaunchd) return 'launchd'
  return await hasSystemd(deps) ? 'systemd' : 'cron'
}

const recipeOf = async (
  deps: VerbDeps, scheduler: Scheduler, jobs: readonly TimerJob[], mailTo: string | undefined,
): Promise<Recipe> => {
  const { stateDir, configDir } = deps.places
  const place: TimerPlace = { program: deps.self.program, stateDir, configDir }
  requirePlainPaths(jobs, place)
  const [id, mail] = [ownId(deps), mailOf(deps, scheduler, mailTo)]
  switch (scheduler) {
    case 'launchd': return withAgents(deps, id, agentsOf(id, jobs, place, logFolder(deps)))
    case 'systemd': return withUnits(deps, id, unitsOf(id, jobs, place, mail))
    case 'cron': return withCron(deps, id, cronLines(jobs, place))
  }
}

/** What is written, and which earlier files go, since their flags were left out. */
const shownOf = (deps: VerbDeps, { shown }: Recipe): readonly string[] => {
  const [id, mac] = [ownId(deps), deps.system.hasLaunchd]
  const gone = [
    ...ownUnits(deps, id).map((name) => join(unitFolder(deps), name)),
    ...(mac ? ownAgents(deps, id).map((label) => join(agentFolder(deps), agentFile(label))) : []),
  ].filter((path) => !shown.includes(path))
  if (gone.length === 0) return shown
  return [...shown, 'These earlier ones are stopped and removed:', ...gone]
}

/** Throws `usage` `public_without_serve`. */
const stayingOf = (
  deps: VerbDeps, { serve = false, edge, public: publicAt }: Request,
): readonly TimerJob[] => {
  if (publicAt === undefined || serve) {
    const deviceDir = edge === true ? deviceDirOf(deps) : null
    return stayingJobs({ serve, deviceDir, publicAt: publicAt ?? null })
  }
  throw fail.usage('public_without_serve', '--public is about the service, which stays by --serve.')
}

/** The state; null where there is none, and what is to stay is a device alone, which needs none. */
const stateFor = async (
  deps: VerbDeps, { serve, edge, check_age: age }: Request,
): Promise<Gov | null> => {
  try {
    return await deps.gov('read')
  } catch (error) {
    const isDeviceAlone = edge === true && serve !== true && age === undefined
    if (isDeviceAlone && error instanceof SallyportError && error.code === 'no_state') return null
    throw error
  }
}

export const install: VerbRecord<InstallOptions, Timers> = {
  summary: 'run jobs on timers of systemd, launchd or cron, and what is to stay',
  description:
    'Makes user units of systemd, agents of launchd on a Mac, or lines of your crontab. They run '
    + 'the jobs that the settings ask for, on their intervals. They are shown first; a yes, which '
    + 'starts unchecked, installs them in place of earlier ones. They name the program, the state '
    + 'and the key folder by absolute paths and hold no secret. Cron mails you what fails; with '
    + 'systemd --mail-to does, at most once an hour for each job; agents have a log each. With '
    + '--serve the service stays running, with --edge the daemon of this device: from each login, '
    + 'or with the machine where you linger. What fails is started again after 30 seconds; systemd '
    + 'leaves it where you have to do something first. Cron starts it with the machine alone. '
    + 'Never as root.',
  examples: [
    '$ sallyport timers install',
    '$ sallyport timers install --with cron --yes',
    '$ sallyport timers install --with systemd --max-age 2h --mail-to me@example.org',
    '$ sallyport timers install --serve --public desk.example:8443',
  ],
  session: 'none',
  exits: ['rejected', 'conflict', 'blocked', 'no_state', 'locked', 'damaged'],
  json: timersInstall,
  flags: (command) => command
    .addOption(choiceFlag(
      '--with <scheduler>', 'what runs them; launchd on a Mac, else systemd or cron', schedulers))
    .addOption(renamed(new Option(
      '--check-age <duration>', 'hourly look that fails without an image younger than this',
    ), '--max-age'))
    .option('--mail-to <address>', 'with systemd: who is told what failed, by sendmail')
    .option('--serve', 'keep the service running, too')
    .option('--public <host:port>', 'with --serve: let devices of other machines in, by this place')
    .option('--edge', 'keep the daemon of this device running, too')
    .option('--yes', 'install without a question'),
  text: timersText,
  run: async (options, deps) => {
    requireUser(deps)
    const request = requestOf(timersInstall, options)
    const { check_age: age, mail_to: mailTo, with: wanted } = request
    const staying = stayingOf(deps, request)
    const gov = await stateFor(deps, request)
    if (age !== undefined) parseDuration('--max-age', age, ageMs)
    const jobs = gov === null
      ? staying : timerJobs(resolveSettings(gov.store.read(), {}), age ?? null, staying)
    if (wanted === 'launchd') requireLaunchd(deps)
    const scheduler = wanted ?? await chosen(deps)
    const recipe = await recipeOf(deps, scheduler, jobs, mailTo)
    // Also with --quiet: nobody is asked about what was not shown.
    for (const line of shownOf(deps, recipe)) tell(deps.io, terminalSafe(line))
    if (gov !== null) tellWhatLacks(deps, gov, jobs, scheduler)
    tellOfStaying(deps, jobs, scheduler)
    if (options.yes !== true) await deps.confirm('Install these timers', '--yes')
    await oneAtATime(deps, 'timers install', () => recipe.install())
    const status = gov === null ? noTimerStatus : timerStatus(gov)
    return timersInstall.answer(await foundTimers(deps, status))
  },
}

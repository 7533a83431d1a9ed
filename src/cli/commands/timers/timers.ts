/** `sallyport timers`: which are installed, and removing them. */
import { countText } from '../../../base/counted.js'
import { SallyportError } from '../../../base/errors.js'
import { shellWord } from '../../../base/told.js'
import {
  noTimerStatus, timersRemove, timersShow, type Timers, type TimerStatus,
} from '../../../fabric/timers/timers-contract.js'
import { cronLinesOf, scheduleOf, withoutBlock } from '../../../fabric/timers/crontab.js'
import { startedUnits } from '../../../fabric/timers/units.js'
import { timerStatus } from '../../../fabric/timers/timer-status.js'
import { verb, type VerbDeps, type VerbRecord } from '../../verb.js'
import { readCrontabBeside, readCrontab, writeCrontab } from './crontab-file.js'
import { foundTimers, noTimers } from './found-timers.js'
import { hasSystemd, ownId, systemctl } from './host.js'
import { ownAgents } from './agent-files.js'
import { dropAgents } from './agents.js'
import { oneAtATime } from './one-at-a-time.js'
import { clearUnits, ownUnits, removeUnits } from './unit-files.js'
import type { View } from '../../output.js'

const line = (name: string, value: string): string => `${name.padEnd(11)}${value}`

const lingeringText = ({ scheduler, lingering }: Timers): readonly string[] => {
  if (scheduler !== 'systemd') return []
  if (lingering === null) return [line('lingering', 'not known; see loginctl')]
  return [line('lingering', lingering
    ? 'on: they run while you are logged out'
    : 'off: they run only while you are logged in; to change that: loginctl enable-linger')]
}

const proofLines = ({ proofs, renew_proof: renews }: Timers, view: View): readonly string[] => {
  const ages = proofs.map(({ slot, state, age_seconds: age }) =>
    line('proof', `${slot}: ${state}${age === null ? '' : `, ${view.span(age * 1_000)} old`}`))
  const isLacking = proofs.some(({ state }) => state !== 'current')
  return [
    ...ages,
    ...(isLacking ? [
      line('', 'nothing is sent without a current one; small paid requests make it:'),
      line('', view.command('gateway prove --all')),
    ] : []),
    ...(ages.length === 0 || renews !== false ? [] : [
      line('', 'it is stale after 24 h and nothing is sent then; a job renews it with'),
      line('', view.command('shots setup --renew-proof on')),
    ]),
  ]
}

/** What `launchctl` itself says where it could not start a program. */
const notStarted = 78

const unitLines = ({ units }: Timers): readonly string[] =>
  units.flatMap(({ unit, starts, job, state, last_exit: exit, last_signal: signal }) => {
    const ended = signal === null ? exit === null ? '' : `, last exit ${exit}`
      : `, ended by signal ${signal}`
    const told = state === 'unknown' ? 'systemd does not tell'
      : state === 'failed' ? 'failed, and is not started anew' : state
    return [
      line('job', `${job}: ${told}${ended}`),
      ...(signal === null && (exit ?? 0) === 0 ? [] : [line('', `journalctl --user -u ${unit}`)]),
      ...(state === 'failed' || state === 'stopped'
        ? [line('', `to start it: systemctl --user start ${starts}`)] : []),
    ]
  })

const endedText = ({ last_exit: exit, last_signal: signal, log }: Timers['agents'][number]) => {
  if (signal !== null) return [`, ended by signal ${signal}`]
  if (exit === null || exit === 0) return [exit === null ? '' : ', last exit 0']
  const told = `, last exit ${exit}`
  return exit === notStarted
    ? [`${told}: launchd could not start it`, 'program or log folder are gone; install again']
    : [told, log]
}

/** What starts an agent that launchd does not run; `timers install` needs its flags for it. */
const startOf = ({ label, state }: Timers['agents'][number], entries: readonly string[]) => {
  const file = entries.find((entry) => entry.endsWith(`/${label}.plist`)) ?? `${label}.plist`
  return state === 'stopped' ? `launchctl kickstart "gui/$(id -u)/${label}"`
    : `launchctl bootstrap "gui/$(id -u)" ${shellWord(file)}`
}

const agentLines = ({ agents, entries }: Timers): readonly string[] =>
  agents.flatMap((agent) => {
    const start = line('', `to start it: ${startOf(agent, entries)}`)
    if (agent.state === 'not_loaded') return [line('job', `${agent.job}: not loaded`), start]
    if (agent.state === 'no_session') {
      return [line('job', `${agent.job}: not loaded until you log in at the screen`)]
    }
    const runs = agent.runs === null ? '' : `, ${countText(agent.runs, 'run')}`
    const [ended = '', ...more] = endedText(agent)
    const told = agent.state === 'unknown' ? 'launchd does not tell' : agent.state
    return [
      line('job', `${agent.job}: ${told}${runs}${ended}`),
      ...more.map((one) => line('', one)),
      ...(agent.state === 'stopped' ? [start] : []),
    ]
  })

const runLines = ({ last_runs: runs, last_failures: failures }: Timers, view: View) =>
  Object.entries(runs ?? {}).map(([job, at]) => {
    const failure = failures.find((one) => one.job === job)
    const failed = failure === undefined ? ''
      : `, failed${failure.reason === null ? '' : ` (${failure.reason})`}`
    return line('last run', `${job}: ${at === null ? 'none known' : view.time(at)}${failed}`)
  })

/** What is installed and what it last did, as text. */
export const timersText = (timers: Timers, view: View): string => [
  line('timers', timers.scheduler ?? `none: ${view.command('timers install')}`),
  ...timers.entries.map((entry) => line('', entry)),
  ...agentLines(timers),
  ...unitLines(timers),
  ...lingeringText(timers),
  ...runLines(timers, view),
  ...proofLines(timers, view),
  '',
].join('\n')

/** What the state knows of its timers; nothing where they stand for a device, which needs none. */
const standing = async (deps: VerbDeps, { scheduler }: Timers): Promise<TimerStatus> => {
  try {
    return timerStatus(await deps.gov('read'))
  } catch (error) {
    const isAway = error instanceof SallyportError && error.code === 'no_state'
    if (isAway && scheduler !== null) return noTimerStatus
    throw error
  }
}

export const show = verb(timersShow, {
  summary: 'which timers are installed, when their jobs last ran, how old the proofs are',
  description:
    'Reads the units, the agents or the crontab lines of this state directory. It asks '
    + 'launchd and systemd how the jobs stand, and systemd whether user units go on while nobody '
    + 'is logged in. It tells the newest run of each job by its own receipts, whoever started it. '
    + 'It tells a scan that could not read its folder, and a recent digest with a failed window. '
    + 'With cron a failed analysis is only mailed. '
    + 'It needs no session and changes nothing.',
  examples: ['$ sallyport timers show', '$ sallyport timers show --json'],
  session: 'none',
  exits: ['conflict', 'no_state', 'damaged'],
  text: timersText,
  run: async (_request, deps) => {
    const found = await foundTimers(deps, noTimerStatus)
    return { ...found, ...await standing(deps, found) }
  },
})

/**
 * Stops these units and takes them out, also where no manager answers. Throws `failed`
 * `systemd_refused` where one answers and does not stop them.
 */
export const dropUnits = async (deps: VerbDeps, units: readonly string[]): Promise<void> => {
  if (units.length === 0) return
  const answers = await hasSystemd(deps)
  const started = startedUnits(units)
  if (answers && started.length > 0) await systemctl(deps, 'disable', '--now', ...started)
  removeUnits(deps, units)
  if (answers) return systemctl(deps, 'daemon-reload')
  deps.note('No manager of user units answers here. One that runs elsewhere forgets them at its '
    + 'next start.')
}

/**
 * Whether lines are to go out of the crontab; asked before anything is changed. Throws `conflict`
 * `crontab_altered`, and what `read` throws.
 */
export const hasLines = async (
  deps: VerbDeps, id: string, read = readCrontabBeside,
): Promise<boolean> => {
  const crontab = await read(deps)
  return crontab !== null && withoutBlock(id, crontab) !== crontab
}

/**
 * Takes the lines out of the crontab as it is by then, which others may have changed meanwhile.
 * What they started stays and is told: units and agents are stopped, a line of cron is not.
 */
export const dropLines = async (deps: VerbDeps, id: string): Promise<void> => {
  const crontab = await readCrontab(deps)
  if (crontab === null) return
  await writeCrontab(deps, withoutBlock(id, crontab))
  tellWhatStays(deps, cronLinesOf(id, crontab) ?? [], [])
}

/** Where a line that starts what stays is not among those of now. */
export const tellWhatStays = (
  deps: VerbDeps, before: readonly string[], now: readonly string[],
): void => {
  const starts = before.filter((one) => one.startsWith(scheduleOf(null)))
  if (starts.every((one) => now.includes(one))) return
  deps.note('Cron ends nothing that it started: a service or a daemon of a device goes on until '
    + 'you end its process. `sallyport status` names that of the service.')
}

export const remove: VerbRecord<object, Timers> = {
  summary: 'stop and remove the timers of this state directory',
  description:
    'Stops the timers and removes what `timers install` made. Those are unit files and agents with '
    + 'its mark, logs of the agents, and lines between its two marks in the crontab. Every other '
    + 'line stays byte for byte. It asks nothing, needs no session and opens no state.',
  examples: ['$ sallyport timers remove'],
  damage: 'unasked',
  exits: ['conflict', 'locked'],
  json: timersRemove,
  text: timersText,
  run: async (_options, deps) => {
    const id = ownId(deps)
    await oneAtATime(deps, 'timers remove', async () => {
      const units = ownUnits(deps, id)
      const agents = deps.system.hasLaunchd ? ownAgents(deps, id) : []
      const isBeside = units.length + agents.length > 0
      const inCron = await hasLines(deps, id, isBeside ? readCrontabBeside : readCrontab)
      await dropAgents(deps, id)
      await dropUnits(deps, units)
      clearUnits(deps, id)
      if (inCron) await dropLines(deps, id)
    })
    return timersRemove.answer({ ...noTimers, ...noTimerStatus })
  },
}

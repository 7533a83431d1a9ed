import { countText } from '../../../base/counted.js'
import { fail, SallyportError } from '../../../base/errors.js'
import { moneyText } from '../../../base/money.js'
import { readStatus } from '../../../fabric/status.js'
import {
  statusCheck, statusLinesOf, statusShow, type StatusDocument,
} from '../../../fabric/status-contract.js'
import type { StatusLine } from '../../../governance/capability.js'
import type { Gov, Session } from '../../../governance/context.js'
import { runningText } from '../../../governance/service/running.js'
import { writeLine, type View } from '../../output.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'

type StatusOptions = { readonly watch?: boolean; readonly check?: boolean }

const lineText = ({ status, reason_code: code, reason }: StatusLine): string =>
  [code === null ? status : `${status} (${code})`, reason].filter(Boolean).join('. ')

/** One line for the jobs of a timer; none where none ever ran. */
const runLines = ({ last_runs: runs }: StatusDocument, view: View): readonly string[] => {
  const told = Object.entries(runs)
    .flatMap(([job, at]) => (at === null ? [] : [`${job} ${view.time(at)}`]))
  return told.length === 0 ? [] : [`last runs  ${told.join(', ')}`]
}

const cutOffLines = ({ interrupted }: StatusDocument['attention']): readonly string[] =>
  (interrupted === 0 ? [] : [
    `cut off    ${countText(interrupted, 'operation')}: shown here as the next command that `
      + 'writes will record it',
  ])

/** What images cost in 24 hours; none where no budget of a day was ever set. */
const dayLines = ({ day }: StatusDocument): readonly string[] => {
  const { budget_microusd: budget, settled_microusd: spent, held_microusd: held } = day
  return budget === null ? [] : [
    `images     ${moneyText(spent ?? 0)} spent in 24 hours, ${moneyText(held ?? 0)} held, of `
      + moneyText(budget),
  ]
}

/** So many things that wait are told on a screen; `--json` has all of them. */
const waitingMax = 12

/** Each with its command below it, so that it can be copied whole. */
const waitingLines = (
  { waiting, waiting_for: owner }: StatusDocument, view: View,
): readonly string[] => {
  const whose = owner === null
    ? `; log in to see what is yours alone: ${view.command('login')}` : ''
  if (waiting.length === 0) return [`waits for you: nothing${whose}`]
  const left = waiting.length - waitingMax
  return [
    `waits for you: ${waiting.length}${whose}`,
    ...waiting.slice(0, waitingMax).flatMap(({ text, command }) => [`  ${text}`, `    ${command}`]),
    ...(left <= 0 ? [] : [`  ${left} more: ${view.command('status --json')}`]),
  ]
}

/** Where a shared state lies; none of a directory. */
const sharedLines = ({ shared }: StatusDocument, view: View): readonly string[] => {
  if (shared === undefined) return []
  const { place, record, machines, machine, heard_at: heard } = shared
  return [[
    `shared     ${view.foreign(place ?? 'place unknown')}, record ${record}`,
    machines === null ? '' : countText(machines, 'machine'),
    machine === null ? '' : `this is ${view.foreign(machine)}`,
    heard === null ? 'not heard yet' : `heard ${view.time(heard)}`,
  ].filter(Boolean).join('; ')]
}

const statusText = (status: StatusDocument, view: View): string => {
  const { policy, ledger, attention, tasks, service } = status
  const open = Object.entries(tasks).map(([state, n]) => `${n} ${state}`).join(', ')
  return [
    ...(status.at === null ? [] : [`at         ${status.at}`]),
    `state      ${status.state_dir}`,
    ...sharedLines(status, view),
    `profile    ${status.profile}`,
    `policy     ${policy.state} at revision ${policy.revision}`
      + (policy.block === null ? '' : ` (${policy.block})`),
    ...statusLinesOf(status).map(([name, line]) => `${name.padEnd(10)} ${lineText(line)}`),
    ledger === null ? 'ledger     none yet'
      : `ledger     ${moneyText(ledger.settled_microusd)} spent, `
        + `${moneyText(ledger.held_microusd)} held, ${moneyText(ledger.unknown_microusd)} `
        + `unknown of ${moneyText(ledger.ceiling_microusd)}`,
    ...dayLines(status),
    ...runLines(status, view),
    ...(service === null ? [] : [`service    ${runningText(service, view.time)}`]),
    `tasks      ${open === '' ? 'none open' : open}`,
    ...cutOffLines(attention).map((line) => view.paint('yellow', line)),
    ...waitingLines(status, view),
    '',
  ].join('\n')
}

/** Who is logged in, without a use of the session; null where nobody is, or nobody can tell. */
const lookerOf = async (deps: VerbDeps): Promise<Session | null> => {
  try {
    return (await deps.login('read', { touch: false })).session
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}

const look = async (deps: VerbDeps, gov: Gov) =>
  readStatus(gov, { at: await deps.at(), world: deps, session: await lookerOf(deps) })

const watchMs = 2_000
/** Clears the screen and begins at its top. */
const clearScreen = '\u001b[H\u001b[2J'

/** Shows it until the command is stopped or nobody reads; what it is then is the result. */
const watch = async (deps: VerbDeps, gov: Gov): Promise<void> => {
  const { io, view, stop, clock } = deps
  const clear = (): void => {
    if (io.terminal.stdout) io.writeOut(clearScreen)
  }
  while (!stop.aborted) {
    const status = statusShow.answer(await look(deps, gov))
    // The result is marked, as no screen of a watch is.
    if (deps.shownDamage() !== null) break
    clear()
    for (const line of statusText(status, view).trimEnd().split('\n')) writeLine(deps, line)
    if (io.isOutGone()) break
    await clock.sleep(watchMs, stop).catch(() => undefined)
  }
  clear()
}

/** Reads the status. Throws `Degraded` with `blocked` where something waits and was asked for. */
export const status: VerbRecord<StatusOptions, StatusDocument> = {
  summary: 'one look at policy, capabilities, money and open tasks',
  description:
    'Shows the policy, the status of each capability, the balance of the one ledger, and '
    + 'what the screenshots spent in 24 hours. It shows when the jobs of timers last ran, and '
    + 'which process serves the state. It lists everything that waits for you, each with the '
    + 'command that goes on. With --check it ends with 7 where a charge or an effect waits, '
    + 'for cron and monitors. It takes no lock, changes no byte and contacts nobody. It needs '
    + 'no session; without one it tells nothing that is one owner\'s alone.',
  examples: ['$ sallyport status', '$ sallyport status --json', '$ sallyport status --check'],
  session: 'optional',
  anchor: 'any',
  damage: 'shows',
  exits: ['blocked', 'no_state', 'damaged'],
  json: statusShow,
  flags: (command) => command
    .option('--watch', 'show it anew every two seconds, until stopped')
    .option('--check', 'end with 7 where a charge or an effect waits for a person'),
  text: statusText,
  run: async (options, deps) => {
    const { watch: watches, check = false } = options
    if (watches === true && check) {
      throw fail.usage('watch_or_check', 'A check ends at once, and a watch goes on.', {
        next: 'Give one of them: `sallyport status --check`.',
      })
    }
    if (watches === true && deps.globals.json) {
      throw fail.usage(
        'watch_is_text', 'With --json there is one document, and nothing to watch.', {
          next: 'Leave out --watch: `sallyport status --json`.',
        })
    }
    const gov = await deps.gov('read')
    if (watches === true) await watch(deps, gov)
    const status = await look(deps, gov)
    // Loaded for a rehearsal alone: a prompt or a monitor that asks for the status waits for it.
    if (status.profile === 'sandbox') {
      await (await import('../sandbox/rehearsal.js')).noteStoppedSandbox(deps, gov)
    }
    return (check ? statusCheck : statusShow).answer(status)
  },
}

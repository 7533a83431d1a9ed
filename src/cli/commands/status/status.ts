import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { moneyText } from '../../../base/money.js'
import { readStatus } from '../../../fabric/status.js'
import {
  statusCheck, statusLinesOf, statusShow, waitingIn, type StatusDocument,
} from '../../../fabric/status-contract.js'
import type { StatusLine } from '../../../governance/capability.js'
import type { Gov } from '../../../governance/context.js'
import { runningText } from '../../../governance/service/running.js'
import { writeLine, type View } from '../../output.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'

/** Flags of `status`. */
interface StatusOptions {
  readonly watch?: boolean
  readonly check?: boolean
}

const lineText = ({ status, reason_code: code, reason }: StatusLine): string =>
  [code === null ? status : `${status} (${code})`, reason].filter(Boolean).join('. ')

/** One line for the jobs of a timer; none where none ever ran. */
const runLines = ({ last_runs: runs }: StatusDocument): readonly string[] => {
  const told = Object.entries(runs).flatMap(([job, at]) => (at === null ? [] : [`${job} ${at}`]))
  return told.length === 0 ? [] : [`last runs  ${told.join(', ')}`]
}

const attentionLines = (
  { unknown_charges, overrun_reviews, unknown_effects, interrupted }: StatusDocument['attention'],
  view: View,
): readonly string[] => [
  ...(interrupted === 0 ? [] : [
    `cut off    ${countText(interrupted, 'operation')} ended with its process and is told as the `
      + 'next command that writes records it',
  ]),
  ...(unknown_charges + overrun_reviews === 0 ? [] : [
    `attention  ${countText(unknown_charges, 'unknown charge')}, `
      + `${countText(overrun_reviews, 'overrun review')}: ${view.command('ledger reservations')}`,
  ]),
  ...(unknown_effects === 0 ? [] : [
    `attention  ${countText(unknown_effects, 'unknown effect')}: `
      + view.command('codehost jobs --state unknown_external_effect'),
  ]),
]

const statusText = (status: StatusDocument, view: View): string => {
  const { policy, ledger, attention, tasks, service } = status
  const open = Object.entries(tasks).map(([state, n]) => `${n} ${state}`).join(', ')
  return [
    ...(status.at === null ? [] : [`at         ${status.at}`]),
    `state      ${status.state_dir}`,
    `profile    ${status.profile}`,
    `policy     ${policy.state} at revision ${policy.revision}`
      + (policy.block === null ? '' : ` (${policy.block})`),
    ...statusLinesOf(status).map(([name, line]) => `${name.padEnd(10)} ${lineText(line)}`),
    ledger === null ? 'ledger     none yet'
      : `ledger     ${moneyText(ledger.settled_microusd)} spent, `
        + `${moneyText(ledger.held_microusd)} held, ${moneyText(ledger.unknown_microusd)} `
        + `unknown of ${moneyText(ledger.ceiling_microusd)}`,
    ...runLines(status),
    ...(service === null ? [] : [`service    ${runningText(service)}`]),
    `tasks      ${open === '' ? 'none open' : open}`,
    ...attentionLines(attention, view).map((line) => view.paint('yellow', line)),
    ...(waitingIn(status) === 0 ? ['attention  no charge waits for a person'] : []),
    '',
  ].join('\n')
}

const watchMs = 2_000
/** Clears the screen and begins at its top. */
const clearScreen = '\u001b[H\u001b[2J'

/** Shows the status until the command is stopped; what it is then is the result. */
const watch = async (deps: VerbDeps, gov: Gov): Promise<void> => {
  const { io, view, stop, clock } = deps
  const clear = (): void => {
    if (io.terminal.stdout) io.writeOut(clearScreen)
  }
  while (!stop.aborted) {
    const status = statusShow.answer(await readStatus(gov, await deps.at()))
    clear()
    for (const line of statusText(status, view).trimEnd().split('\n')) writeLine(deps, line)
    await clock.sleep(watchMs, stop).catch(() => undefined)
  }
  clear()
}

/** Reads the status. Throws `Degraded` with `blocked` where something waits and was asked for. */
export const status: VerbRecord<StatusOptions, StatusDocument> = {
  summary: 'one look at policy, capabilities, money and open tasks',
  description:
    'Shows where the policy stands, the status of each capability, the balance of the one '
    + 'ledger, when the jobs of timers last ran, which process serves the state, and the charges '
    + 'and effects that wait for a person, those of a process that died among them. With '
    + '--check it ends with 7 where one waits, for cron and monitors. It needs no session, takes '
    + 'no lock, changes no byte and contacts nobody.',
  examples: ['$ sallyport status', '$ sallyport status --json', '$ sallyport status --check'],
  session: 'none',
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
    return (check ? statusCheck : statusShow).answer(await readStatus(gov, await deps.at()))
  },
}

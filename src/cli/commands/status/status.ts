import { moneyText } from '../../../base/money.js'
import { readStatus } from '../../../fabric/status.js'
import {
  statusLinesOf, statusShow, type StatusDocument,
} from '../../../fabric/status-contract.js'
import type { StatusLine } from '../../../governance/capability.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

const lineText = ({ status, reason_code: code, reason }: StatusLine): string =>
  [code === null ? status : `${status} (${code})`, reason].filter(Boolean).join('. ')

const definition: VerbDefinition<StatusDocument> = {
  meta: {
    name: 'status',
    summary: 'one look at policy, capabilities, money and open tasks',
    description:
      'Shows where the policy stands, the status of each capability, the balance of the one '
      + 'ledger and the charges that wait for a person. It needs no session, takes no lock, '
      + 'changes no byte and contacts nobody.',
    examples: ['$ sallyport status', '$ sallyport status --json'],
    session: 'none',
    anchor: 'any',
    damage: 'shows',
    exits: ['no_state', 'damaged'],
    json: statusShow,
  },
  text: (status, view) => {
    const { policy, ledger, attention, tasks } = status
    const open = Object.entries(tasks).map(([state, n]) => `${n} ${state}`).join(', ')
    const waits = attention.unknown_charges + attention.overrun_reviews
    return [
      `state      ${status.state_dir}`,
      `profile    ${status.profile}`,
      `policy     ${policy.state} at revision ${policy.revision}`
        + (policy.block === null ? '' : ` (${policy.block})`),
      ...statusLinesOf(status).map(([name, line]) => `${name.padEnd(10)} ${lineText(line)}`),
      ledger === null ? 'ledger     none yet'
        : `ledger     ${moneyText(ledger.settled_microusd)} spent, `
          + `${moneyText(ledger.held_microusd)} held, ${moneyText(ledger.unknown_microusd)} `
          + `unknown of ${moneyText(ledger.ceiling_microusd)}`,
      `tasks      ${open === '' ? 'none open' : open}`,
      waits === 0 ? 'attention  no charge waits for a person' : view.paint(
        'yellow',
        `attention  ${attention.unknown_charges} unknown charge(s), `
          + `${attention.overrun_reviews} overrun review(s): sallyport ledger reservations`,
      ),
      '',
    ].join('\n')
  },
}

/** Reads the status. */
export const run: Run<object, StatusDocument> = async (_options, deps) =>
  statusShow.answer(await readStatus(await deps.gov('read')))

/** Parses a line of `status`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

/** `sallyport sandbox fault`, `faults` and `status`: a running sandbox, seen and steered. */
import { Argument } from 'commander'
import { fail } from '../../../base/errors.js'
import {
  faultLimits, sandboxFault, sandboxFaultsShape, sandboxFaults, sandboxStatus, sandboxStatusShape,
  type ActiveFaultDocument, type SandboxFaultsDocument, type SandboxStatusDocument,
} from '../../../sandbox/sandbox-contract.js'
import { faultTable } from '../../../sandbox/faults/table.js'
import { serviceNames } from '../../../sandbox/types.js'
import { choiceFlag, integerFlag, offered } from '../../flags.js'
import type { View } from '../../output.js'
import { requestOf } from '../../request.js'
import { renderTable } from '../../table.js'
import { fieldLines } from '../../text.js'
import { verb, type LineOf, type VerbRecord } from '../../verb.js'
import { askControl } from './control.js'
import { dirFlag } from './dir.js'

/** Arguments and flags of `sandbox fault`. */
export type SandboxFaultOptions =
  Omit<LineOf<typeof sandboxFault>, 'action'> & { readonly action: string }

const actions = ['set', 'clear'] as const
const { countMax, valueMax } = faultLimits

const faultLine = (fault: ActiveFaultDocument): string =>
  [
    `${fault.name} (${fault.service})`,
    ...(fault.after > 0 ? [`after ${fault.after}`] : []),
    fault.times === null ? 'until cleared' : `${fault.times} times`,
    ...(fault.value === null ? [] : [`value ${fault.value}`]),
  ].join(', ')

const requireFitting = ({ action, name, ...flags }: SandboxFaultOptions): void => {
  if (!actions.some((one) => one === action)) {
    throw fail.usage('fault_action', 'Say what to do with the fault: set, clear or list.')
  }
  if (action === 'set' && name === undefined) {
    throw fail.usage('fault_name_missing', 'Name the fault to set.', {
      next: 'List the names with: `sallyport sandbox fault list`.',
    })
  }
  const { service, times, after, value } = flags
  if (action === 'clear' && [service, times, after, value].some((one) => one !== undefined)) {
    throw fail.usage('fault_clear_flags', 'Clearing takes a name and --dir, nothing else.')
  }
}

export const faults = verb(sandboxFaults, {
  summary: 'list the faults that a sandbox can be given',
  description:
    'Lists name, services and meaning of every fault, and what its value means where it takes '
    + 'one. Names that begin with billing_ strike the billing readback, all others completions.',
  examples: ['$ sallyport sandbox fault list', '$ sallyport sandbox fault list --json'],
  damage: 'unasked',
  exits: [],
  text: (list, view) =>
    renderTable(
      view,
      ['fault', 'services', 'what happens', 'value'],
      list.map(({ name, services, summary, value }) => [
        name,
        services.join(' '),
        summary,
        value === null ? '' : `${value.meaning} (${value.default})`,
      ]),
    ),
  run: async () => {
    return faultTable
  },
})

/** Sets or clears. Throws `usage`, `rejected` (the sandbox's reason), `sandbox_not_running`. */
export const fault: VerbRecord<SandboxFaultOptions, SandboxFaultsDocument> = {
  summary: 'switch a fault of a running sandbox on or off',
  description:
    '`set NAME` makes the sandbox answer the next fitting requests wrongly in a known way; '
    + '`clear` switches one name or everything off. A fault strikes until it is cleared, or as '
    + 'often as --times says. `list` tells the names and what each does, of no sandbox that runs.',
  examples: [
    '$ sallyport sandbox fault list',
    '$ sallyport sandbox fault set billing_no_entry --times 2',
    '$ sallyport sandbox fault set delay --value 5000 --service gateway',
    '$ sallyport sandbox fault set billing_overrun --value 100000 --times 1',
    '$ sallyport sandbox fault clear billing_no_entry',
    '$ sallyport sandbox fault clear --dir ./sandbox',
  ],
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'remote'],
  json: sandboxFault,
  flags: (command) => {
    const action = offered(new Argument('<action>', 'set, clear or list'), [...actions, 'list'])
    return command
      .addArgument(action)
      .addArgument(offered(
        new Argument('[name]', 'name of the fault; clear without one clears all'),
        [...new Set(faultTable.map(({ name }) => name))],
      ))
      .option(...dirFlag)
      .addOption(choiceFlag('--service <name>', 'whose fault', [...serviceNames]))
      .addOption(integerFlag('--times <n>', 'requests it strikes', { min: 1, max: countMax }))
      .addOption(integerFlag('--after <n>', 'requests it lets pass', { min: 0, max: countMax }))
      .addOption(integerFlag('--value <n>', "the fault's number", { min: 0, max: valueMax }))
  },
  joins: [{
    by: 'list', load: () => faults,
    line: ({ action, ...line }) => (action === 'list' ? line : null),
  }],
  text: ({ cleared, faults }) => ({
    out: faults.map((fault) => `${faultLine(fault)}\n`).join(''),
    notes: [
      ...(cleared > 0 ? [`cleared: ${cleared}`] : []),
      ...(faults.length === 0 ? ['no fault is on'] : []),
    ],
  }),
  run: async (options, deps) => {
    requireFitting(options)
    const { action, dir, ...fault } = requestOf(sandboxFault, options)
    const path = action === 'set' ? '/faults' : '/faults/clear'
    // Members that are undefined are left out of the JSON.
    const body = action === 'set' ? fault : { name: fault.name }
    return sandboxFault.answer(
      await askControl(deps, dir, { method: 'POST', path, body }, sandboxFaultsShape),
    )
  },
}

const textOf = (status: SandboxStatusDocument, view: View): string =>
  fieldLines([
    ['process', String(status.pid)],
    ...Object.entries(status.services).map(([name, seen]): [string, string] => [
      name,
      `port ${status.ports[name]}, ${seen.requests} requests, ${seen.connections} connections`,
    ]),
    ['at once', `${status.in_progress} now, ${status.max_concurrent} at most`],
    ['faults', status.faults.length === 0 ? 'none' : status.faults.map(faultLine).join('; ')],
    ['violations', status.violations.length === 0 ? 'none' : ''],
  ]) + status.violations.map((line) => `  ${view.foreign(line)}\n`).join('')

/** Asks the running sandbox. Throws `sandbox_not_running` (not_found). */
export const status = verb(sandboxStatus, {
  summary: 'show what a running sandbox has seen',
  description:
    'Shows ports, faults that are on, how many requests came to which service, and what any of '
    + 'them did that the protocol does not allow. It shows counts, never questions or keys.',
  examples: ['$ sallyport sandbox status', '$ sallyport sandbox status --dir ./sandbox --json'],
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'remote'],
  flags: (command) => command.option(...dirFlag),
  text: textOf,
  run: async ({ dir }, deps) =>
    askControl(deps, dir, { method: 'GET', path: '/status' }, sandboxStatusShape),
})

/** `sallyport sandbox status`: what a running sandbox has seen, in counts. */
import {
  sandboxStatus, sandboxStatusShape, type SandboxStatusDocument,
} from '../../../sandbox/contract.js'
import { fieldLines } from '../../text.js'
import type { View } from '../../output.js'
import { verb } from '../../verb.js'
import { askControl } from './control.js'
import { dirFlag } from './dir.js'
import { faultLine } from './fault.js'

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
  session: 'none',
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'remote'],
  flags: (command) => command.option(...dirFlag),
  text: textOf,
  run: async ({ dir }, deps) =>
    askControl(deps, dir, { method: 'GET', path: '/status' }, sandboxStatusShape),
})

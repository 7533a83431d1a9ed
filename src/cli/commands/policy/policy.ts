/** `sallyport policy`: the one policy of every route. */
import type { Command, Option } from 'commander'
import { fail, SallyportError } from '../../../base/errors.js'
import { firstPart, operation } from '../../../fabric/operation.js'
import { policy } from '../../../fabric/operations/policy.js'
import type { Gov } from '../../../governance/context.js'
import {
  policyRevoke, policyHistory, type PolicyRevokedDocument,
} from '../../../governance/policy/policy-contract.js'
import { listPolicy } from '../../../governance/policy/head.js'
import { recordWaitMs, revokePolicy, type RevokeOrder } from '../../../governance/policy/revoke.js'
import { lockWaits } from '../../../state/lock.js'
import { stoppingOf } from '../../../state/place/stopping.js'
import { limitFlag, numberFlag, partFlag } from '../../flags.js'
import { sentBeforeLines } from '../../sent-before.js'
import { renderTable } from '../../table.js'
import type { VerbRecord } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { recoverFirst } from '../../work.js'

const historyFlags = (command: Command, limit: Option): Command => command
  .addOption(limit)
  .addOption(numberFlag('--after <revision>', 'only those below this one'))

export const history = verbOf(operation(policyHistory, 'read', (work, request) =>
  firstPart(work, request.limit,
    (most) => listPolicy(work.gov.store.read(), most, request.after),
    ({ revision }) => String(revision))), {
  summary: 'list the published policy revisions, newest first',
  description: 'Lists the revisions with state, reason, epoch and fence, newest first.',
  examples: [
    '$ sallyport policy show --history --limit 5', '$ sallyport policy show --history --json',
  ],
  flags: (command) => historyFlags(command, limitFlag('most revisions', 100_000)),
  text: (rows, view) => renderTable(
    view, ['revision', 'state', 'reason', 'epoch', 'fence', 'published'],
    rows.map((row) => [
      String(row.revision), row.state, row.reason, String(row.epoch), String(row.fence),
      view.time(row.published_at),
    ]),
  ),
})

export const show = verbOf(policy.show, {
  summary: 'show the policy, its witness and every consent',
  description:
    'Shows the last published revision, whether its witness agrees, and the consents with '
    + 'whether each is current. One policy governs every route. With --history it lists the '
    + 'published revisions, newest first.',
  examples: [
    '$ sallyport policy show', '$ sallyport policy show --json',
    '$ sallyport policy show --history --limit 5',
  ],
  flags: (command) => historyFlags(
    command.option('--history', 'list the revisions, newest first'), partFlag('most revisions')),
  joins: [{
    by: '--history', load: () => history,
    line: ({ history: asked, ...line }) => (asked === undefined ? null : line),
  }],
  text: ({ policy: head, usable, block, witness, consents }, view) => [
    `revision  ${head.revision}`,
    `state     ${view.paint(usable ? 'green' : 'yellow', head.state)} (${head.reason})`,
    ...(block === null ? [] : [`blocked   ${block}`]),
    `witness   ${witness}`,
    `epoch     ${head.epoch}, fence ${head.fence}`,
    ...consents.map((one) =>
      `consent   ${one.purpose}: ${one.state}${one.current ? ', current' : ''}`),
    `code host has consents of its own: ${view.command('codehost connections --grants')}`,
    '',
  ].join('\n'),
  complete: (line: { readonly limit?: number, readonly after?: number }) => {
    if (line.limit === undefined && line.after === undefined) return line
    throw fail.usage('history_needed', '--limit and --after go with --history.')
  },
})

const recordedText = ({ waits_for: code }: PolicyRevokedDocument): string => {
  if (code === 'commit_unknown') {
    return 'It may not be recorded yet; the next command that writes records it.'
  }
  return code !== null && lockWaits.includes(code)
    ? 'Another process holds the state; the next command that writes records it.'
    : 'The stop is recorded once the state is repaired.'
}

const stoppedText = (document: PolicyRevokedDocument): string => {
  if (document.under_way.length > 0) return 'Stopped, but for requests that processes still hold.'
  const every = 'Every route is stopped: alpha, gateway and code host'
  return document.revision === null
    ? `${every}. ${recordedText(document)}` : `${every} (policy revision ${document.revision}).`
}

/** The routes are stopped: nothing that comes after may make it look otherwise. */
const recoverAfter = async (deps: Parameters<typeof recoverFirst>[0], gov: Gov): Promise<void> => {
  try {
    await recoverFirst(deps, gov)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    deps.note(`Stopped, but what a dead process left was not resolved: ${error.message}`)
  }
}

/** Revokes. A session is named in the record when there is one, and never asked for. */
export const revoke: VerbRecord<object, PolicyRevokedDocument> = {
  summary: 'stop every route at once',
  description:
    'Stops every route and ends every consent at once, those to write to a code host too. '
    + 'Nothing more leaves once it has ended with 0. It needs no session, no lock, no key and no '
    + 'sound state, because stopping must never be hard. What cannot be recorded now is in '
    + 'force all the same and is recorded by the next command that writes. Requests that had '
    + 'been sent before are named, and a charge that is already owed is still read back. A '
    + 'process that holds a request and does not answer is named too (status 11): it may still '
    + 'send when it wakes. Each route has to be granted anew afterwards.',
  examples: ['$ sallyport policy revoke', '$ sallyport policy revoke --json'],
  session: 'none',
  anchor: 'any',
  damage: 'decides',
  exits: ['no_state', 'locked', 'damaged'],
  json: policyRevoke,
  text: (document) => [stoppedText(document), ...sentBeforeLines(document.requests), ''].join('\n'),
  run: async (_options, deps) => {
    const { stateDir, configDir } = deps.places
    const stopping = await stoppingOf({ dir: stateDir, configDir })
    const { boards, stateHolds, isShared } = stopping
    if (boards.length === 0) await deps.openStore('read')
    let by: RevokeOrder['by'] = { principal: null, root: null }
    try {
      const { session } = await deps.login('read', { touch: false })
      by = { principal: session.principal.principal_id, root: session.root.root_id }
    } catch {
      // Neither an ended session nor a damaged state must keep anybody from stopping.
    }
    const { openForStop } = await import('../../store.js')
    let gov: Gov | null = null
    const open = async (): Promise<Gov> => (gov = await openForStop(deps, recordWaitMs))
    try {
      const revoked = await revokePolicy({
        stateHolds, boards, isShared, clock: deps.clock, by, open,
      })
      if (gov !== null && revoked.why === null) await recoverAfter(deps, gov)
      return policyRevoke.answer(revoked)
    } finally {
      (gov as Gov | null)?.store.close()
      stopping.close()
    }
  },
}

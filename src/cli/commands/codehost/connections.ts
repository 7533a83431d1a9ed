/** Connections to a code host: listing them, and narrowing what may be written through them. */
import { Argument } from 'commander'
import { fail } from '../../../base/errors.js'
import { listedConnections } from '../../../codehost/connections.js'
import {
  codehostGrants, codehostMode, codehostDisconnect, codehostRevoke, type ConnectionDocument,
} from '../../../codehost/codehost-contract.js'
import { standingsOf } from '../../../codehost/jobs/standing.js'
import { setMode, disconnect as dropConnection, revokeConsent } from '../../../codehost/restrict.js'
import { operation } from '../../../fabric/operation.js'
import { codehost } from '../../../fabric/operations/codehost.js'
import { offered } from '../../flags.js'
import type { View } from '../../output.js'
import { renderTable } from '../../table.js'
import { fieldLines } from '../../text.js'
import { verbOf } from '../../verb-of.js'

const consentLine = ({ consent }: Pick<ConnectionDocument, 'consent'>): string => {
  if (consent === null) return 'none was ever given'
  const until = consent.state === 'issued' ? ` until ${consent.expires_at}` : ''
  return `${consent.state}${until}: ${consent.actions.join(', ')}`
}

const connectionFields = (one: ConnectionDocument): readonly (readonly [string, string])[] => [
  ['connection', one.id],
  ['repository', one.repository_id === null
    ? one.repository : `${one.repository} (number ${one.repository_id})`],
  ['mode', one.mode],
  ['revision', String(one.revision)],
  ['opt-in', one.opt_in ? 'given' : 'not given'],
  ['consent', consentLine(one)],
  ...(one.consent === null ? [] : [['session', one.consent.root] as const]),
  ['capacity', one.active_job_id === null ? 'free' : `occupied by ${one.active_job_id}`],
]

export const connectionText = (one: ConnectionDocument): string =>
  fieldLines(connectionFields(one))

/** The same of one that was just saved: what it may be used for comes next. */
export const savedConnectionText = (one: ConnectionDocument, view: View): string => fieldLines([
  ...connectionFields(one),
  ...(one.opt_in ? [] : [['next', view.command('codehost publish FOLDER')] as const]),
])

const noConnection = 'No connection yet: `sallyport codehost connect`'

export const grants = verbOf(operation(codehostGrants, 'read', ({ gov, session }) => {
  const view = gov.store.read()
  return listedConnections(gov, session).map((one) =>
    ({ ...one, authorities: standingsOf(view, one.connection.connection_id) }))
}), {
  summary: 'list what your connections allow, and until when',
  description:
    'Lists the consents of your connections, derived from their rows on each read. You see what '
    + 'was opted in to, the actions, the session it rests on and when it ends. Each is issued, '
    + 'expired, revoked or stopped. Nothing is read from this list when something is written.',
  examples: [
    '$ sallyport codehost connections --grants', '$ sallyport codehost connections --grants --json',
  ],
  none: noConnection,
  text: (rows, view) => renderTable(
    view, ['connection', 'repository', 'state', 'until', 'actions', 'standing'],
    rows.map((row) => [
      view.id(row.connection), row.repository, row.state, view.time(row.expires_at),
      row.actions.join(', '),
      row.standing.map((one) =>
        `${one.jobs_used} of ${one.jobs_max} jobs until ${one.expires_at}`).join('; '),
    ]),
  ),
})

export const connections = verbOf(codehost.connections, {
  summary: 'list your connections: mode, consent, capacity',
  description:
    'Lists your saved connections with their mode, and whether a job occupies them. It tells '
    + 'whether writes were ever opted in to, how the consent stands now and when it ends. It '
    + 'contacts nobody. With --grants it lists what they allow, by the actions, the session it '
    + 'rests on and when it ends, and how many jobs a standing approval still takes.',
  examples: [
    '$ sallyport codehost connections', '$ sallyport codehost connections --json',
    '$ sallyport codehost connections --grants',
  ],
  none: noConnection,
  flags: (command) => command.option('--grants', 'what they allow, and until when'),
  joins: [{
    by: '--grants', load: () => grants,
    line: ({ grants: asked, ...line }) => (asked === undefined ? null : line),
  }],
  text: (rows, view) => renderTable(
    view, ['connection', 'repository', 'mode', 'revision', 'consent', 'capacity'],
    rows.map((row) => [
      view.id(row.id), row.repository, row.mode, String(row.revision), consentLine(row),
      row.occupied_for_good === true ? 'occupied for good' : row.capacity,
    ]),
  ),
})

type ModeOptions = { readonly connection: string; readonly mode: string }

export const mode = verbOf(operation(codehostMode, 'stop',
  async ({ gov, session, stopped }, { connection, mode: next }) => {
    const narrowed = await setMode(gov, session, { connectionId: connection, mode: next })
    await stopped(narrowed.recorded)
    return narrowed
  }), {
  summary: 'disable a connection, or leave it for reads alone',
  description:
    '`disabled` and `reconcile_only` both end what may be written, at once. The second says '
    + 'that reads which settle earlier work are what it is kept for. `active` is never set '
    + 'here: a consent makes a connection active, and returning to it takes a new one.',
  examples: [
    '$ sallyport codehost mode ID disabled', '$ sallyport codehost mode ID reconcile_only',
  ],
  of: 'connection',
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  flags: (command) => command
    .addArgument(offered(
      new Argument('<mode>', 'disabled or reconcile_only'), ['disabled', 'reconcile_only'],
    )),
  text: connectionText,
  complete: (line: ModeOptions) => {
    if (line.mode !== 'active') return line
    throw fail.rejected('mode_by_consent', 'Only a consent makes a connection active.', {
      next: 'See `sallyport codehost consent --help`.',
    })
  },
})

/** What takes something back of a connection, at once. */
const restriction = (
  contract: typeof codehostRevoke, act: typeof revokeConsent, mode: 'stop' | 'write',
) =>
  operation(contract, mode, async ({ gov, session, stopped }, { connection }) => {
    const done = await act(gov, session, connection)
    await stopped(done.recorded)
    return done
  })

export const disconnect = verbOf(restriction(codehostDisconnect, dropConnection, 'write'), {
  summary: 'remove the token of a connection and end its consent; its row stays',
  description:
    'The consent ends at once, then the token is taken out of the vault. What jobs did stays '
    + 'shown. A later `codehost connect` to the same repository takes the row up again, so '
    + 'that a job in CI leaves no connection behind at each run. Refused while a job occupies '
    + 'the connection: what was sent is settled with the token that it was sent with.',
  examples: ['$ sallyport codehost disconnect ID', '$ sallyport codehost disconnect ID --json'],
  of: 'connection',
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  text: connectionText,
})

export const revoke = verbOf(restriction(codehostRevoke, revokeConsent, 'stop'), {
  summary: 'take back the consent of a connection, at once',
  description:
    'Nothing more is written through the connection once it has answered, also while a job '
    + 'occupies it. It is no undo: what was sent stays sent, and stays shown. Reads go on, so '
    + 'that what was sent can be found out.',
  examples: ['$ sallyport codehost revoke ID', '$ sallyport codehost revoke ID --json'],
  of: 'connection',
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  text: connectionText,
})

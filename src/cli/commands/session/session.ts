/** `sallyport session`: who is logged in, and ending sessions. */
import { operation, wholeOrPart } from '../../../fabric/operation.js'
import { session } from '../../../fabric/operations/policy.js'
import {
  sessionList, sessionRevoke, type SessionDocument,
} from '../../../governance/session/session-contract.js'
import { listSessions } from '../../../governance/session/end.js'
import { dropToken, tokenPath } from '../../../governance/session/token.js'
import { revokeSession } from '../../../governance/stops/people.js'
import { partFlag } from '../../flags.js'
import { currentToken } from '../../login.js'
import type { View } from '../../output.js'
import { renderTable } from '../../table.js'
import { fieldLines } from '../../text.js'
import { verb } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { workFor } from '../../work.js'

/** One word for how a session stands. */
const sessionState = ({ live, ended_reason }: SessionDocument): string =>
  live ? 'live' : ended_reason === null ? 'expired' : `ended (${ended_reason})`

const sessionText = (facts: SessionDocument, view: View): string => fieldLines([
  ['session', facts.id],
  ['owner', facts.principal],
  ['state', sessionState(facts)],
  ['opened', view.time(facts.issued_at)],
  ['last use', view.time(facts.last_use_at)],
  ['idle until', view.time(facts.idle_expires_at)],
  ['expires', view.time(facts.expires_at)],
])

export const show = verbOf(session.show, {
  summary: 'show the session in use',
  description: 'Shows whose session is in use and when it ends. Looking counts as a use.',
  examples: ['$ sallyport session show', '$ sallyport session show --json'],
  text: ({ root }, view) => sessionText(root, view),
})

// A session of another owner is ended by its whole id alone.
const shownId = (rows: SessionDocument[], { id, principal }: SessionDocument, view: View): string =>
  rows.every((row) => row.principal === principal) ? view.id(id) : id

export const list = verbOf(operation(sessionList, 'read', (work, { limit, ...filter }) => {
  const { gov, session: own } = work
  const view = gov.store.read()
  return wholeOrPart(work, limit, (most) =>
    listSessions(gov, view, own, { ...filter, limit: most }), ({ id }) => id)
}), {
  summary: 'list your sessions, newest first',
  description:
    'Lists sessions and when they end; those that have been over for 30 days are not listed.',
  examples: [
    '$ sallyport session list',
    '$ sallyport session list --all --live --json',
    '$ sallyport session list --limit 20',
  ],
  ids: { after: 'session' },
  exits: ['rejected'],
  flags: (command) => command
    .option('--all', 'the sessions of every owner')
    .option('--live', 'only those that are live')
    .addOption(partFlag('most sessions; all of them unless given'))
    .option('--after <session>', 'only those older than this one'),
  text: (rows, view) => renderTable(
    view, ['session', 'owner', 'state', 'opened', 'idle until', 'expires'],
    rows.map((row) => [
      shownId(rows, row, view), row.principal, sessionState(row),
      view.time(row.issued_at), view.time(row.idle_expires_at), view.time(row.expires_at),
    ]),
  ),
})

export const revoke = verb(sessionRevoke, {
  summary: 'end a session by its id',
  description:
    'Ends one of your sessions, or that of any other owner: ending only ever stops something, '
    + 'and is audited. Nothing that the session admitted is sent or used any more.',
  examples: ['$ sallyport session revoke root_0190f…'],
  of: 'session',
  decides: true,
  exits: ['rejected', 'not_found', 'locked'],
  text: ({ root }, view) => sessionText(root, view),
  run: async (request, deps) => {
    const { gov, session: own, stopped } = await workFor(deps, 'stop')
    const revoked = await revokeSession(gov, own, request.session)
    await stopped(revoked.recorded)
    const token = currentToken(gov, deps.env)
    if (revoked.session.id === own.root.root_id && token !== null) {
      dropToken(tokenPath(gov.store.dir), token)
    }
    return revoked
  },
})

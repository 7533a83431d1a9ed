import { sessionList, type SessionDocument } from '../../../governance/session/contract.js'
import { listSessions } from '../../../governance/session/end.js'
import { renderTable } from '../../table.js'
import type { View } from '../../output.js'
import { verb } from '../../verb.js'
import { sessionState } from './text.js'

// A session of another owner is ended by its whole id alone.
const shownId = (rows: SessionDocument[], { id, principal }: SessionDocument, view: View): string =>
  rows.every((row) => row.principal === principal) ? view.id(id) : id

export const list = verb(sessionList, {
  summary: 'list your sessions, newest first',
  description:
    'Lists sessions and when they end; those that have been over for 30 days are not kept.',
  examples: ['$ sallyport session list', '$ sallyport session list --all --live --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  flags: (command) => command
    .option('--all', 'the sessions of every owner')
    .option('--live', 'only those that are live'),
  text: (rows, view) => renderTable(
    view, ['session', 'owner', 'state', 'opened', 'idle until', 'expires'],
    rows.map((row) => [
      shownId(rows, row, view), row.principal, sessionState(row), row.issued_at,
      row.idle_expires_at, row.expires_at,
    ]),
  ),
  run: async (request, deps) => {
    const { gov, session } = await deps.login('read')
    const view = gov.store.read()
    return listSessions(gov, view, session, {
      all: request.all === true, live: request.live === true,
    })
  },
})

import { sessionList, type SessionDocument } from '../../../governance/session/contract.js'
import { listSessions } from '../../../governance/session/end.js'
import { renderTable } from '../../table.js'
import { requestOf } from '../../request.js'
import type { View } from '../../output.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { sessionState } from './text.js'

/** Flags of `session list`. */
export interface SessionListOptions {
  readonly all?: boolean
  readonly live?: boolean
}

// A session of another owner is ended by its whole id alone.
const shownId = (rows: SessionDocument[], { id, principal }: SessionDocument, view: View): string =>
  rows.every((row) => row.principal === principal) ? view.id(id) : id

const definition: VerbDefinition<SessionDocument[]> = {
  meta: {
    name: 'session list',
    summary: 'list your sessions, newest first',
    description:
      'Lists sessions and when they end; those that have been over for 30 days are not kept.',
    examples: ['$ sallyport session list', '$ sallyport session list --all --live --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: sessionList,
  },
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
}

/** Lists. */
export const run: Run<SessionListOptions, SessionDocument[]> = async (options, deps) => {
  const request = requestOf(sessionList, options)
  const { gov, session } = await deps.login('read')
  const view = gov.store.read()
  return sessionList.answer(
    listSessions(gov, view, session, { all: request.all === true, live: request.live === true }),
  )
}

/** Parses a line of `session list`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

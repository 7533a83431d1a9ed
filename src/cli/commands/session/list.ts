import * as v from 'valibot'
import { listSessions } from '../../../governance/session/end.js'
import { renderTable } from '../../table.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { sessionFactsShape, sessionState, type SessionFactsJson } from './facts.js'

/** Flags of `session list`. */
export interface SessionListOptions {
  readonly all?: boolean
  readonly live?: boolean
}

const definition: VerbDefinition<SessionFactsJson[]> = {
  meta: {
    name: 'session list',
    summary: 'list your sessions, newest first',
    description:
      'Lists sessions and when they end; those that have been over for 30 days are not kept.',
    examples: ['$ sallyport session list', '$ sallyport session list --all --live --json'],
    session: 'required',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: { version: 1, schema: v.array(sessionFactsShape) },
  },
  flags: (command) => command
    .option('--all', 'the sessions of every owner')
    .option('--live', 'only those that are live'),
  text: (rows, view) => renderTable(
    view, ['session', 'owner', 'state', 'opened', 'idle until', 'expires'],
    rows.map((row) => [
      row.id, row.principal, sessionState(row), row.issued_at, row.idle_expires_at, row.expires_at,
    ]),
  ),
}

/** Lists. */
export const run: Run<SessionListOptions, SessionFactsJson[]> = async (options, deps) => {
  const { gov, session } = await deps.login('read')
  const view = gov.store.read()
  return listSessions(gov, view, session, { all: options.all === true })
    .filter(({ live }) => live || options.live !== true)
}

/** Parses a line of `session list`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

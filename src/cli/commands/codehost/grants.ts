import { codehostGrants } from '../../../codehost/contract.js'
import { standingsOf } from '../../../codehost/jobs/standing.js'
import { listedConnections } from '../../../codehost/connections.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'

export const grants = verb(codehostGrants, {
  summary: 'list what your connections allow, and until when',
  description:
    'Lists the consents of your connections, derived from their rows on each read: what was '
    + 'opted in to, the actions, the session it rests on, when it ends, and whether it is '
    + 'issued, expired, revoked or stopped. Nothing is read from this list when something is '
    + 'written.',
  examples: ['$ sallyport codehost grants', '$ sallyport codehost grants --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  text: (rows, view) => renderTable(
    view, ['connection', 'repository', 'state', 'until', 'actions', 'standing'],
    rows.map((row) => [
      view.id(row.connection), row.repository, row.state, row.expires_at,
      row.actions.join(', '),
      row.standing.map((one) =>
        `${one.jobs_used} of ${one.jobs_max} jobs until ${one.expires_at}`).join('; '),
    ]),
  ),
  run: async (_request, deps) => {
    const { gov, session } = await deps.login('read')
    const view = gov.store.read()
    return listedConnections(gov, session).map((one) =>
      ({ ...one, authorities: standingsOf(view, one.connection.connection_id) }))
  },
})

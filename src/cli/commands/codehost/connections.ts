import { codehostConnections } from '../../../codehost/contract.js'
import { listedConnections } from '../../../codehost/connections.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'
import { consentLine } from './text.js'

export const connections = verb(codehostConnections, {
  summary: 'list your connections: mode, consent, capacity',
  description:
    'Lists your saved connections with their mode, whether writes were ever opted in to, how '
    + 'the consent stands now, when it ends, and whether a job occupies the connection. It '
    + 'contacts nobody.',
  examples: ['$ sallyport codehost connections', '$ sallyport codehost connections --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  text: (rows, view) => renderTable(
    view, ['connection', 'repository', 'mode', 'revision', 'consent', 'capacity'],
    rows.map((row) => [
      view.id(row.id), row.repository, row.mode, String(row.revision), consentLine(row),
      row.occupied_for_good === true ? 'occupied for good' : row.capacity,
    ]),
  ),
  run: async (_request, deps) => {
    const { gov, session } = await deps.login('see')
    return listedConnections(gov, session)
  },
})

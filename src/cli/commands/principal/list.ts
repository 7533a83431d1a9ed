import { defaultPrincipal, listPrincipals } from '../../../governance/principals.js'
import { principalList } from '../../../governance/principals-contract.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'
import { principalState } from './text.js'

export const list = verb(principalList, {
  summary: 'list the owners',
  description: 'Lists the owners, oldest first; of a passphrase only whether there is one.',
  examples: ['$ sallyport principal list', '$ sallyport principal list --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  text: (rows, view) => renderTable(
    view, ['owner', 'state', 'passphrase', 'added', 'id'],
    rows.map((row) => [
      row.name, principalState(row), row.has_passphrase ? 'yes' : 'none', row.created_at, row.id,
    ]),
  ),
  run: async (_request, deps) => {
    const { gov } = await deps.login('read')
    const view = gov.store.read()
    return {
      principals: listPrincipals(view), byDefault: defaultPrincipal(view),
    }
  },
})

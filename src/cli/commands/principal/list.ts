import { defaultPrincipal, listPrincipals } from '../../../governance/principals.js'
import { principalList, type PrincipalListed } from '../../../governance/principals-contract.js'
import { renderTable } from '../../table.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { principalState } from './text.js'

const definition: VerbDefinition<PrincipalListed[]> = {
  meta: {
    name: 'principal list',
    summary: 'list the owners',
    description: 'Lists the owners, oldest first; of a passphrase only whether there is one.',
    examples: ['$ sallyport principal list', '$ sallyport principal list --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: principalList,
  },
  text: (rows, view) => renderTable(
    view, ['owner', 'state', 'passphrase', 'added', 'id'],
    rows.map((row) => [
      row.name, principalState(row), row.has_passphrase ? 'yes' : 'none', row.created_at, row.id,
    ]),
  ),
}

/** Lists. */
export const run: Run<object, PrincipalListed[]> = async (_options, deps) => {
  const { gov } = await deps.login('read')
  const view = gov.store.read()
  return principalList.answer({
    principals: listPrincipals(view), byDefault: defaultPrincipal(view),
  })
}

/** Parses a line of `principal list`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

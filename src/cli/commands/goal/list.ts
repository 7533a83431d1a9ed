import { listGoals } from '../../../governance/goals.js'
import { goalList } from '../../../governance/goals-contract.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'

export const list = verb(goalList, {
  summary: 'list your goals, oldest first',
  description: 'Lists your goals. Tasks that name none belong to the default goal.',
  examples: ['$ sallyport goal list', '$ sallyport goal list --open --json'],
  session: 'required',
  damage: 'shows',
  exits: ['unauthorized', 'no_state', 'damaged'],
  flags: (command) => command.option('--open', 'only goals that are open'),
  text: (rows, view) => renderTable(
    view, ['goal', 'state', 'revision', 'default', 'title'],
    rows.map((row) => [
      view.id(row.id), row.state, String(row.revision), row.is_default ? 'yes' : 'no', row.title,
    ]),
  ),
  run: async ({ open }, deps) => {
    const { gov, session } = await deps.login('read')
    return listGoals(gov.store.read(), session)
      .filter(({ state }) => state === 'open' || open !== true)
  },
})

import { listGoals } from '../../../governance/goals.js'
import { goalList, type GoalDocument } from '../../../governance/goals-contract.js'
import { renderTable } from '../../table.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Flags of `goal list`. */
export interface GoalListOptions {
  readonly open?: boolean
}

const definition: VerbDefinition<GoalDocument[]> = {
  meta: {
    name: 'goal list',
    summary: 'list your goals, oldest first',
    description: 'Lists your goals. Tasks that name none belong to the default goal.',
    examples: ['$ sallyport goal list', '$ sallyport goal list --open --json'],
    session: 'required',
    damage: 'shows',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: goalList,
  },
  flags: (command) => command.option('--open', 'only goals that are open'),
  text: (rows, view) => renderTable(
    view, ['goal', 'state', 'revision', 'default', 'title'],
    rows.map((row) => [
      view.id(row.id), row.state, String(row.revision), row.is_default ? 'yes' : 'no', row.title,
    ]),
  ),
}

/** Lists. */
export const run: Run<GoalListOptions, GoalDocument[]> = async (options, deps) => {
  const { open } = requestOf(goalList, options)
  const { gov, session } = await deps.login('read')
  return goalList.answer(listGoals(gov.store.read(), session)
    .filter(({ state }) => state === 'open' || open !== true))
}

/** Parses a line of `goal list`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

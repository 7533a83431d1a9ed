import * as v from 'valibot'
import { listGoals } from '../../../governance/goals.js'
import type { VerbDeps } from '../../bound.js'
import { renderTable } from '../../table.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { goalFacts, goalFactsShape, type GoalFacts } from './facts.js'

/** Flags of `goal list`. */
export interface GoalListOptions {
  readonly open?: boolean
}

const definition: VerbDefinition<GoalFacts[]> = {
  meta: {
    name: 'goal list',
    summary: 'list your goals, oldest first',
    description: 'Lists your goals. Tasks that name none belong to the default goal.',
    examples: ['$ sallyport goal list', '$ sallyport goal list --open --json'],
    session: 'required',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: { version: 1, schema: v.array(goalFactsShape) },
  },
  flags: (command) => command.option('--open', 'only goals that are open'),
  text: (rows, view) => renderTable(
    view, ['goal', 'state', 'revision', 'default', 'title'],
    rows.map((row) => [
      row.id, row.state, String(row.revision), row.is_default ? 'yes' : 'no', row.title,
    ]),
  ),
}

/** Lists. */
export const run: Run<GoalListOptions, GoalFacts[]> = async (options, deps) => {
  const { gov, session } = await deps.login('read')
  return listGoals(gov.store.read(), session)
    .filter(({ state }) => state === 'open' || options.open !== true)
    .map(goalFacts)
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<GoalListOptions, GoalFacts[]> = run): Verb =>
  defineVerb(deps, definition, doIt)

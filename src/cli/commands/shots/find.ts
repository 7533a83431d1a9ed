import { shotsContext } from '../../../fabric/contexts/shots.js'
import { timeZoneOf } from '../../../observations/zone.js'
import { shotLimits } from '../../../shots/constants.js'
import { shotsFind, type SearchResult } from '../../../shots/search/contract.js'
import { searchTexts } from '../../../shots/search/search.js'
import { integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import { pointInTime } from '../../since.js'
import { renderTable } from '../../table.js'
import { visibleLine } from '../../text.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Argument and flags of `shots find`. */
export interface FindOptions {
  readonly text: string
  readonly since?: string
  readonly limit?: number
}

const notesOf = ({ found, looked_at: { analyses, digests }, unreadable, more }: SearchResult) => [
  `${found.length} found in ${analyses} analyses and ${digests} digests`
    + (more ? '; there is more to look at with --limit N, or less with --since' : ''),
  ...(unreadable === 0 ? [] : [
    `${unreadable} could not be opened: \`sallyport state check\``,
  ]),
]

const definition: VerbDefinition<SearchResult> = {
  meta: {
    name: 'shots find',
    summary: 'look for a text in what models wrote about screenshots',
    description:
      'Looks for a text in every stored analysis and digest, newest first, and prints the id, the '
      + 'time and a line around it. Letter case and runs of white space make no difference. '
      + 'Archived observations are left out. Nobody is contacted and no byte is changed.',
    examples: [
      '$ sallyport shots find invoice',
      '$ sallyport shots find "pull request" --since 7d --json',
    ],
    session: 'required',
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
    json: shotsFind,
  },
  flags: (command) => command
    .argument('<text>', 'what to look for')
    .option('--since <time>', 'captured since a day (of TZ), a time with its offset, or an age')
    .addOption(integerFlag(
      '--limit <n>', `at most so many; ${shotLimits.listItemsDefault} unless given`,
      { min: 1, max: shotLimits.listItemsMax },
    )),
  text: async (result, view) => ({
    out: await renderTable(
      view, ['time', 'kind', 'id', 'in', 'text'],
      result.found.map(({ at, kind, id, field, line }) =>
        [at, kind, view.id(id), field, visibleLine(view.foreign(line))]),
    ),
    notes: notesOf(result),
  }),
}

const run: Run<FindOptions, SearchResult> = async ({ since, ...options }, deps) => {
  const from = since === undefined
    ? {} : { since: pointInTime('--since', since, deps.clock, timeZoneOf(deps.env)) }
  const search = requestOf(shotsFind, { ...options, ...from })
  const { gov } = await deps.login('read')
  return shotsFind.answer(await searchTexts(shotsContext(deps, gov), gov.store.read(), search))
}

/** Parses a line of `shots find`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

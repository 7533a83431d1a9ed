import { shotsContext } from '../../../fabric/contexts/shots.js'
import { timeZoneOf } from '../../../observations/zone.js'
import { shotLimits } from '../../../shots/constants.js'
import { shotsFind, type SearchDocument } from '../../../shots/search/contract.js'
import { searchTexts } from '../../../shots/search/search.js'
import { nextPage } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import { pointInTime } from '../../since.js'
import { renderTable } from '../../table.js'
import { visibleLine } from '../../text.js'
import type { LineOf, VerbRecord } from '../../verb.js'

/** Argument and flags of `shots find`. */
export type FindOptions = LineOf<typeof shotsFind>

const notesOf = (
  { found, looked_at: { analyses, digests }, unreadable, next_page: next }: SearchDocument,
) => [
  `${found.length} found in ${analyses} analyses and ${digests} digests`
    + (next === null ? '' : '; there is more to look at, or less with --since'),
  ...(next === null ? [] : [`More: ${next}`]),
  ...(unreadable === 0 ? [] : [
    `${unreadable} could not be opened: \`sallyport state check\``,
  ]),
]

export const find: VerbRecord<FindOptions, SearchDocument> = {
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
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
  json: shotsFind,
  flags: (command) => command
    .argument('<text>', 'what to look for')
    .option('--since <time>', 'captured since a day (of TZ), a time with its offset, or an age')
    .addOption(integerFlag(
      '--limit <n>', `at most so many; ${shotLimits.listItemsDefault} unless given`,
      { min: 1, max: shotLimits.listItemsMax },
    ))
    .option('--after <id>', 'only what comes behind this observation or digest, by its whole id'),
  text: async (result, view) => ({
    out: await renderTable(
      view, ['time', 'kind', 'id', 'in', 'text'],
      result.found.map(({ at, kind, id, field, line }) =>
        [at, kind, view.id(id), field, visibleLine(view.foreign(line))]),
    ),
    notes: notesOf(result),
  }),
  run: async ({ since, ...options }, deps) => {
    const from = since === undefined
      ? {} : { since: pointInTime('--since', since, deps.clock, timeZoneOf(deps.env)) }
    const search = requestOf(shotsFind, { ...options, ...from })
    const { gov } = await deps.login('read')
    const result = await searchTexts(shotsContext(deps, gov), gov.store.read(), search)
    const last = result.found.at(-1)
    if (result.more && last !== undefined) deps.cut = { flag: '--after', value: last.id }
    return shotsFind.answer({ result, nextPage: nextPage(deps) })
  },
}

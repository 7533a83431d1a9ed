import { analysisStatuses, shotLimits } from '../../../shots/constants.js'
import { shotsList } from '../../../shots/observations/contract.js'
import type { Listed } from '../../../shots/observations/facts.js'
import { listObservations } from '../../../shots/observations/list.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'
import { noteCut } from './cut-note.js'
import { timeZoneOf } from '../../../observations/zone.js'
import { pointInTime } from '../../since.js'

/** Flags of `shots list`. */
export type ShotsListOptions = LineOf<typeof shotsList>

/** Why it is not analysed; what was analysed needs no reason. */
const reasonOf = ({ analysis_status: status, reason }: Listed): string =>
  status === 'succeeded' || status === 'needs_reanalysis' ? '' : reason ?? ''

export const list: VerbRecord<ShotsListOptions, Listed[]> = {
  summary: 'list observations, newest capture first',
  description:
    'Lists observations of every folder that are not archived. The status is the one of now: '
    + 'an analysis of another model, prompt or schema shows as needs_reanalysis, an incomplete '
    + 'row of another folder as stale_root. Nobody is contacted and no byte is changed.',
  examples: [
    '$ sallyport shots list',
    '$ sallyport shots list --status failed --since 8h --json',
    '$ sallyport shots list --archived --limit 10',
  ],
  session: 'none',
  ids: { after: 'observation' },
  damage: 'shows',
  exits: ['rejected', 'not_found', 'no_state', 'damaged'],
  json: shotsList,
  flags: (command) => command
    .addOption(choiceFlag('--status <status>', 'only this analysis status', analysisStatuses))
    .option('--since <time>', 'captured since a day (of TZ), a time with its offset, or an age')
    .addOption(integerFlag(
      '--limit <n>', `at most so many; ${shotLimits.listItemsDefault} unless given`,
      { min: 1, max: shotLimits.listItemsMax },
    ))
    .option('--archived', 'archived ones too')
    .option('--after <observation>', 'only those captured before this one'),
  text: (rows, view) => renderTable(
    view, ['observation', 'captured', 'status', 'size', 'like', 'file', 'reason'],
    rows.map((row) => [
      view.id(row.observation_id), row.captured_at,
      row.classification ?? (row.archived_at === null ? row.analysis_status : 'archived'),
      row.width === null ? row.format : `${row.width}x${row.height} ${row.format}`,
      String(row.suppressed_count), row.path, reasonOf(row),
    ]),
  ),
  run: async ({ since, ...options }, deps) => {
    const from = since === undefined
      ? {} : { since: pointInTime('--since', since, deps.clock, timeZoneOf(deps.env)) }
    const gov = await deps.gov('see')
    const ctx = shotsContext(deps, gov)
    const query = requestOf(shotsList, { ...options, ...from })
    const page = listObservations(ctx, gov.store.read(), query)
    noteCut(
      deps, page, ({ observation_id: id }) => id, ' or --limit N, fewer with --status or --since')
    return shotsList.answer(page.rows)
  },
}

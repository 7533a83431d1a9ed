/** What was observed: listing it, showing one of it, finding it. */
import { moneyText } from '../../../base/money.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'
import { operation } from '../../../fabric/operation.js'
import { shots } from '../../../fabric/operations/shots.js'
import { analysisStatuses, shotLimits } from '../../../shots/constants.js'
import {
  shotsList, type ObservationDocument,
} from '../../../shots/observations/observations-contract.js'
import type { Listed } from '../../../shots/observations/facts.js'
import { listObservations } from '../../../shots/observations/list.js'
import { shotsFind, type SearchDocument } from '../../../shots/search/search-contract.js'
import { searchTexts } from '../../../shots/search/search.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import type { View } from '../../output.js'
import { requestOf } from '../../request.js'
import { withSince } from '../../since.js'
import { renderTable } from '../../table.js'
import { bytesText, fieldLines, visibleLine } from '../../text.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { noteNextPage } from './next-page-note.js'

/** What tells a person which picture it is. */
const fileOf = ({ path, device_name: name }: Listed): string =>
  (name === null ? path : `device ${name}`)

const notesOf = (
  { found, looked_at: { analyses, digests }, unreadable, next_page: next }: SearchDocument,
) => [
  `${found.length} found in ${analyses} analyses and ${digests} digests`
    + (next === null ? '' : '; there is more to look at, or less with --since'),
  ...(next === null ? [] : [`More: ${next}`]),
  ...(unreadable === 0 ? [] : [`${unreadable} could not be opened: \`sallyport state check\``]),
]

export const find = verbOf(operation(shotsFind, 'read', async ({ gov, world, cut }, search) => {
  const result = await searchTexts(shotsContext(world, gov), gov.store.read(), search)
  const last = result.found.at(-1)
  const isCut = result.more && last !== undefined
  return { result, nextPage: isCut ? cut({ field: 'after', value: last.id }) : null }
}), {
  summary: 'look for a text in what models wrote about screenshots',
  description:
    'Looks for a text in every stored analysis and digest, newest first, and prints the id, the '
    + 'time and a line around it. Letter case and runs of white space make no difference. '
    + 'Archived observations are left out. Nobody is contacted and no byte is changed.',
  examples: [
    '$ sallyport shots find invoice',
    '$ sallyport shots find "pull request" --since 7d --json',
  ],
  exits: ['rejected', 'not_found'],
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
        [view.time(at), kind, view.id(id), field, visibleLine(view.foreign(line))]),
    ),
    notes: notesOf(result),
  }),
  complete: withSince,
})

const loadDigests = async () => (await import('./digests.js')).digests

type ShotsListOptions = LineOf<typeof shotsList>

/** Why it is not analysed; what was analysed needs no reason. */
const reasonOf = ({ analysis_status: status, reason }: Listed): string =>
  status === 'succeeded' || status === 'needs_reanalysis' ? '' : reason ?? ''

export const list: VerbRecord<ShotsListOptions, Listed[]> = {
  summary: 'list observations, newest capture first',
  description:
    'Lists observations of every folder that are not archived, and what paired devices of the '
    + 'default owner captured. The status is the one of now. An '
    + 'analysis of another model, prompt or schema shows as needs_reanalysis, an incomplete row of '
    + 'another folder as stale_root. With --search it looks for a text in every stored analysis '
    + 'and digest, newest first, and prints a line around it. Letter case and runs of white space '
    + 'make no difference. With --digests it lists the digest of each window. Nobody is contacted '
    + 'and no byte is changed.',
  examples: [
    '$ sallyport shots list',
    '$ sallyport shots list --status failed --since 8h --json',
    '$ sallyport shots list --archived --limit 10',
    '$ sallyport shots list --search "pull request" --since 7d --json',
    '$ sallyport shots list --digests',
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
    .option('--search <text>', 'look for this in what models wrote; archived ones are left out')
    .option('--digests', 'digests of windows in the place of observations')
    .option('--after <observation>', 'only those captured before this one'),
  joins: [{
    by: '--search TEXT', load: () => find,
    line: ({ search, ...line }) => (search === undefined ? null : { ...line, text: search }),
  }, {
    by: '--digests', load: loadDigests,
    line: ({ digests: asked, ...line }) => (asked === undefined ? null : line),
  }],
  text: (rows, view) => renderTable(
    view, ['observation', 'captured', 'status', 'size', 'like', 'file', 'reason'],
    rows.map((row) => [
      view.id(row.observation_id), view.time(row.captured_at),
      row.classification ?? (row.archived_at === null ? row.analysis_status : 'archived'),
      row.width === null ? row.format : `${row.width}x${row.height} ${row.format}`,
      String(row.suppressed_count), fileOf(row), reasonOf(row),
    ]),
  ),
  run: async (options, deps) => {
    const line = withSince(options, deps)
    const gov = await deps.gov('see')
    const ctx = shotsContext(deps, gov)
    const query = requestOf(shotsList, line)
    const page = listObservations(ctx, gov.store.read(), query)
    noteNextPage(
      deps, page, ({ observation_id: id }) => id, ' or --limit N, fewer with --status or --since')
    return shotsList.answer(page.rows)
  },
}

const runText = ({ screenshot_visual_run: run }: ObservationDocument): [string, string][] =>
  run === null ? [] : [[
    'like images', `${run.suppressed_count}, from ${run.first_seen} to ${run.last_seen}`,
  ]]

const analysisText = (one: ObservationDocument, view: View): [string, string][] => {
  const { analysis: made } = one
  return made === null ? [] : [[
    'analysed', `${view.time(made.analyzed_at)} by ${made.model} (${made.reply_model}), `
      + `${moneyText(made.cost_microusd)}${made.earlier ? ', before the newest attempt' : ''}`,
  ], ...(made.payload_of === null ? [] : [[
    'as image', `${made.payload_of}, captured ${made.payload_captured_at}: it looks the same`,
  ] satisfies [string, string]])]
}

const payloadText = (payload: Readonly<Record<string, unknown>>): string =>
  `\nWritten by the model:\n${JSON.stringify(payload, null, 2)}\n`

/** Where it lies: below a folder, or sealed as a device sent it. */
const placeText = (
  { root, paths, device_id: device, device_name: name }: ObservationDocument,
  shown: (text: string) => string,
): [string, string][] => (device === null
  ? [['folder', shown(root)], ...paths.map(({ path }): [string, string] => ['file', shown(path)])]
  : [['device', `${shown(name ?? '')} (${device})`],
    ...paths.map(({ path }): [string, string] => ['capture', path])])

const showText = (one: ObservationDocument, view: View): string => {
  const shown = (text: string): string => visibleLine(view.foreign(text))
  const size = one.width === null ? 'dimensions unknown' : `${one.width}x${one.height}`
  const reason = one.reason === null ? '' : ` (${one.reason})`
  const facts = fieldLines([
    ['observation', one.observation_id],
    ['source', one.source],
    ...placeText(one, shown),
    ['captured', view.time(one.captured_at)
      + (one.captured_in_future ? ' (ahead of the clock)' : '')],
    ['observed', view.time(one.observed_at)],
    ['image', `${one.format}, ${size}, ${bytesText(one.bytes)}`],
    ['sha256', one.sha256],
    ...runText(one),
    ['status', `${one.analysis_status}${reason}`],
    ...(one.classification === null ? [] : [['class', one.classification] as const]),
    ...(one.archived_at === null ? [] : [['archived', view.time(one.archived_at)] as const]),
    ['attempts', String(one.analyzer.attempts)],
    ['for reports', one.report_readiness.replace('_', ' ')],
    ...analysisText(one, view),
  ])
  return one.payload === undefined ? facts : facts + view.foreign(payloadText(one.payload))
}

/** Whether it names a file: no id has a dot or a slash, and each file of an image has one. */
const isPath = (given: unknown): boolean => /[./]/.test(String(given))

export const show = verbOf(shots.show, {
  summary: 'one observation, one digest, what became of a file, or the settings',
  description:
    'Prints the local facts of an observation: source, hash, size, format, dimensions, files, '
    + 'run of like images, status with its reason, readiness for reports. What a model wrote '
    + 'about it is printed only with --analysis. Of a digest it prints the text. Of a file it '
    + 'says what became of it and why, and what a scan would do with it now. Without anything '
    + 'it prints every setting with its value in force and where that comes from, and what the '
    + 'gateway slots own. Nobody is contacted.',
  examples: [
    '$ sallyport shots show',
    '$ sallyport shots show obs_01890000-0000-7000-8000-000000000000',
    '$ sallyport shots show obs_01890000-0000-7000-8000-000000000000 --analysis --json',
    '$ sallyport shots show ~/Pictures/Screenshots/shot.png',
  ],
  ids: { id: ['observation', 'digest'] },
  exits: ['rejected', 'not_found', 'blocked'],
  flags: (command) => command
    .argument('[id]', 'id of the observation or the digest, or the path of a file')
    .option('--analysis', 'print what the model wrote, too'),
  joins: [{
    by: 'nothing', load: async () => (await import('./config.js')).settings,
    line: ({ id, ...line }) => (id === undefined ? line : null),
  }, {
    by: 'FILE', load: async () => (await import('./explain.js')).explain,
    line: ({ id, ...line }) => (isPath(id) ? { ...line, path: id } : null),
  }, {
    by: 'DIGEST', load: loadDigests,
    line: ({ id, ...line }) => (String(id).startsWith('epi_') ? { ...line, episode: id } : null),
  }],
  text: showText,
})

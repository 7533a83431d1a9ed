import { moneyText } from '../../../base/money.js'
import { shotsShow, type ObservationDocument } from '../../../shots/observations/contract.js'
import { showObservation } from '../../../shots/observations/show.js'
import type { View } from '../../output.js'
import { bytesText, fieldLines, visibleLine } from '../../text.js'
import { verb } from '../../verb.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'

const runText = ({ screenshot_visual_run: run }: ObservationDocument): [string, string][] =>
  run === null ? [] : [[
    'like images', `${run.suppressed_count}, from ${run.first_seen} to ${run.last_seen}`,
  ]]

const analysisText = (one: ObservationDocument): [string, string][] => {
  const { analysis: made } = one
  return made === null ? [] : [[
    'analysed', `${made.analyzed_at} by ${made.model} (${made.reply_model}), `
      + `${moneyText(made.cost_microusd)}${made.earlier ? ', before the newest attempt' : ''}`,
  ]]
}

const payloadText = (payload: Readonly<Record<string, unknown>>): string =>
  `\nWritten by the model:\n${JSON.stringify(payload, null, 2)}\n`

const showText = (one: ObservationDocument, view: View): string => {
  const shown = (text: string): string => visibleLine(view.foreign(text))
  const size = one.width === null ? 'dimensions unknown' : `${one.width}x${one.height}`
  const reason = one.reason === null ? '' : ` (${one.reason})`
  const facts = fieldLines([
    ['observation', one.observation_id],
    ['source', one.source],
    ['folder', shown(one.root)],
    ...one.paths.map(({ path }): [string, string] => ['file', shown(path)]),
    ['captured', `${one.captured_at}${one.captured_in_future ? ' (ahead of the clock)' : ''}`],
    ['observed', one.observed_at],
    ['image', `${one.format}, ${size}, ${bytesText(one.bytes)}`],
    ['sha256', one.sha256],
    ...runText(one),
    ['status', `${one.analysis_status}${reason}`],
    ...(one.classification === null ? [] : [['class', one.classification] as const]),
    ...(one.archived_at === null ? [] : [['archived', one.archived_at] as const]),
    ['attempts', String(one.analyzer.attempts)],
    ['for reports', one.report_readiness.replace('_', ' ')],
    ...analysisText(one),
  ])
  return one.payload === undefined ? facts : facts + view.foreign(payloadText(one.payload))
}

export const show = verb(shotsShow, {
  summary: 'local facts of one observation',
  description:
    'Prints the local facts of an observation: source, hash, size, format, dimensions, files, '
    + 'run of like images, status with its reason, readiness for reports. What a model wrote '
    + 'about it is printed only with --analysis. Nobody is contacted.',
  examples: [
    '$ sallyport shots show obs_01890000-0000-7000-8000-000000000000',
    '$ sallyport shots show obs_01890000-0000-7000-8000-000000000000 --analysis --json',
  ],
  session: 'required',
  ids: { id: 'observation' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'not_found', 'blocked', 'no_state', 'damaged'],
  flags: (command) => command
    .argument('<id>', 'id of the observation')
    .option('--analysis', 'print what the model wrote, too'),
  text: showText,
  run: async ({ id, analysis }, deps) => {
    const { gov } = await deps.login('see')
    return showObservation(shotsContext(deps, gov), gov.store.read(), id, analysis)
  },
})

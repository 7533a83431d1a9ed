import * as v from 'valibot'
import { fail } from '../../../base/errors.js'
import { observationFactsShape } from '../../../shots/observations/facts.js'
import { requireObservation, showObservation } from '../../../shots/observations/show.js'
import { openPayload } from '../../../shots/payload/read.js'
import type { VerbDeps } from '../../bound.js'
import type { View } from '../../output.js'
import { bytesText, fieldLines, visibleLine } from '../../text.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { shotsContext } from './context.js'

/** Argument and flags of `shots show`. */
export interface ShotsShowOptions {
  readonly id: string
  readonly analysis?: boolean
}

const schema = v.strictObject({
  ...observationFactsShape.entries,
  /** The semantic analysis, as the model wrote it; only with --analysis. */
  payload: v.optional(v.record(v.string(), v.unknown())),
})
/** One observation. */
export type ShotsShowResult = v.InferOutput<typeof schema>

const runText = ({ screenshot_visual_run: run }: ShotsShowResult): [string, string][] =>
  run === null ? [] : [[
    'like images', `${run.suppressed_count}, from ${run.first_seen} to ${run.last_seen}`,
  ]]

const analysisText = (one: ShotsShowResult): [string, string][] => {
  const { analysis: made } = one
  return made === null ? [] : [[
    'analysed', `${made.analyzed_at} by ${made.model} (${made.reply_model}), `
      + `${made.cost_microusd} micro-USD${made.earlier ? ', before the newest attempt' : ''}`,
  ]]
}

const payloadText = (payload: Readonly<Record<string, unknown>>): string =>
  `\nWritten by the model:\n${JSON.stringify(payload, null, 2)}\n`

const showText = (one: ShotsShowResult, view: View): string => {
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

const definition: VerbDefinition<ShotsShowResult> = {
  meta: {
    name: 'shots show',
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
    exits: ['rejected', 'unauthorized', 'not_found', 'blocked', 'no_state', 'damaged'],
    json: { version: 1, schema },
  },
  flags: (command) => command
    .argument('<id>', 'id of the observation')
    .option('--analysis', 'print what the model wrote, too'),
  text: (result, view) => showText(result, view),
}

/** Shows. */
export const run: Run<ShotsShowOptions, ShotsShowResult> = async ({ id, analysis }, deps) => {
  const { gov } = await deps.login('read')
  const ctx = shotsContext(deps, gov)
  const view = gov.store.read()
  const facts = showObservation(ctx, view, id)
  if (analysis !== true) return facts
  const row = requireObservation(view, id)
  if (row.payload === null) {
    throw fail.notFound('analysis_not_found', 'This observation has no analysis.', {
      next: 'See why with: sallyport shots show ID',
    })
  }
  return { ...facts, payload: openPayload(ctx, view, row.payload) }
}

/** The verb. */
export const build = (
  deps: VerbDeps, doIt: Run<ShotsShowOptions, ShotsShowResult> = run,
): Verb => defineVerb(deps, definition, doIt)

import { resolve } from 'node:path'
import { explainPath, shotsExplain, type Explanation } from '../../../shots/explain.js'
import { becauseOf, decodeReasons } from '../../../shots/explain-reasons.js'
import type { View } from '../../output.js'
import { fieldLines, visibleLine } from '../../text.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'

/** Argument of `shots show FILE`. */
type ExplainOptions = LineOf<typeof shotsExplain>

const seenText = (at: string, told: string): string => (told === at ? ` at ${at}` : `, ${told}`)

const outcomeText = ({ outcome, reason, seen_at: at }: Explanation, view: View): string =>
  outcome.replace('_', ' ')
  + (reason === null ? '' : ` (${reason})`) + (at === null ? '' : seenText(at, view.time(at)))

const gateText = (gate: NonNullable<Explanation['visual_gate']>): string =>
  `largest difference of a cell of ${gate.cell_pixels}x${gate.cell_pixels} pixels is `
  + `${gate.measure === null ? 'unknown' : gate.measure}, the limit is ${gate.limit} of 255`
  + (gate.cell === null ? '' : ` (at ${gate.cell.x_pixels},${gate.cell.y_pixels})`)

const ignoredText = (
  { in_force: inForce, areas }: NonNullable<NonNullable<Explanation['visual_gate']>['ignored']>,
): string => inForce
  ? `${areas.join(' ')}, which do not count` : 'areas that are no longer the ones in force'

const decodingText = (code: string): string => {
  const text = decodeReasons[code]
  return text === undefined ? code : `${text} (${code})`
}

const explanationText = (one: Explanation, view: View): string => {
  const shown = (path: string): string => visibleLine(view.foreign(path))
  const folder = one.root === null ? 'none' : shown(one.root)
  const because = becauseOf({ reason: one.reason, compared: one.visual_gate?.compared ?? null })
  return fieldLines([
    ['file', shown(one.path)],
    ['folder', one.root === null || one.current_root ? folder : `${folder} (not the one in force)`],
    ['outcome', outcomeText(one, view)],
    ...(because === null ? [] : [['because', because] as const]),
    ...(one.decode_reason === null ? [] : [['decoding', decodingText(one.decode_reason)] as const]),
    ...(one.visual_gate === null ? [] : [['gate', gateText(one.visual_gate)] as const]),
    ...(one.visual_gate === null || one.visual_gate.ignored === null
      ? [] : [['ignored', ignoredText(one.visual_gate.ignored)] as const]),
    ...(one.observation === null ? [] : [[
      'observation', `${one.observation.observation_id}, ${one.observation.analysis_status}`,
    ] as const]),
    ['a scan would', `${one.now.scan_would.replaceAll('_', ' ')}: ${one.now.why}`],
  ])
}

export const explain: VerbRecord<ExplainOptions, Explanation> = {
  summary: 'what became of one file and why',
  description:
    'Says whether a file is known, what it became, and what a scan would do with it now. It '
    + 'became an observation, a duplicate, suppressed as a like image, or rejected. The '
    + 'measured difference, the limit and the reason stand beside it. It reads no content, '
    + 'needs no session, takes no lock, changes no byte and contacts nobody.',
  examples: [
    '$ sallyport shots show ~/Pictures/Screenshots/shot.png',
    '$ sallyport shots show shot.png --json',
  ],
  session: 'none',
  damage: 'shows',
  exits: ['no_state', 'damaged'],
  json: shotsExplain,
  flags: (command) => command.argument('<path>', 'the file'),
  text: explanationText,
  run: async (options, deps) => {
    const { path } = shotsExplain.request({ path: resolve(deps.cwd, options.path) })
    const gov = await deps.gov('see')
    return shotsExplain.answer(explainPath(shotsContext(deps, gov), gov.store.read(), path))
  },
}

import { SallyportError } from '../../../base/errors.js'
import { maxAgeMs, shotsStatus } from '../../../shots/status/status-contract.js'
import type { ShotsStatus } from '../../../shots/status/shape.js'
import { readShotsStatus, type StatusSite } from '../../../shots/status/status.js'
import { durationFlag } from '../../flags.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'
import { statusText } from './status-text.js'

interface ShotsStatusOptions {
  /** Milliseconds. */
  readonly maxAge?: number
  /** Milliseconds. */
  readonly maxAnalysisAge?: number
}

/** The state, or why it cannot be opened; without one at all there is nothing to tell. */
const stateOf = async (deps: VerbDeps): Promise<StatusSite['state']> => {
  try {
    return { ctx: shotsContext(deps, await deps.gov('see')) }
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'no_state') throw error
    const { stateDir, configDir } = deps.places
    const world = { env: deps.env, home: deps.home, ownFolders: [stateDir, configDir] }
    return { failure: error.code, world }
  }
}

export const status: VerbRecord<ShotsStatusOptions, ShotsStatus> = {
  summary: 'one look at folder, observations, analysis and the gateway',
  description:
    'Shows the folder in force, where it comes from and how many images lie there. It tells what '
    + 'was observed and analysed, what waits, what failed, and whether remote routing is safe. '
    + 'Each number is about the folder it names. It needs no session, takes no lock, changes no '
    + 'byte and contacts nobody; what cannot be told in short time is marked partial. With '
    + '--max-age it ends with 7 when the newest item is older, or when there is none; with '
    + '--max-analysis-age the same of the newest analysis.',
  examples: [
    '$ sallyport shots status',
    '$ sallyport shots status --json',
    '$ sallyport shots status --max-age 2h --quiet',
  ],
  session: 'none',
  anchor: 'any',
  damage: 'shows',
  exits: ['rejected', 'blocked', 'no_state'],
  json: shotsStatus,
  flags: (command) => command.addOption(
    durationFlag('--max-age <duration>', 'greatest age of the newest item', maxAgeMs),
  ).addOption(durationFlag(
    '--max-analysis-age <duration>', 'greatest age of the newest analysis', maxAgeMs,
  )),
  text: statusText,
  run: async (options, deps) => {
    const { maxAge, maxAnalysisAge } = options
    const asked = shotsStatus.request({
      ...(maxAge === undefined ? {} : { max_age_ms: maxAge }),
      ...(maxAnalysisAge === undefined ? {} : { max_analysis_age_ms: maxAnalysisAge }),
    })
    const state = await stateOf(deps)
    const { stateDir } = deps.places
    const status = readShotsStatus({ clock: deps.clock, stateDir, state })
    return shotsStatus.answer({
      status, maxAgeMs: asked.max_age_ms ?? null,
      maxAnalysisAgeMs: asked.max_analysis_age_ms ?? null, nowMs: deps.clock.wallMs(),
    })
  },
}

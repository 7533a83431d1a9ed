/** `sallyport shots run`: the scheduler's three jobs, on their intervals or once. */
import { toldDocument } from '../../../base/told-document.js'
import { shotsRun, type RunDocument, type TurnDocument } from '../../../shots/jobs-contract.js'
import type { JobTurn } from '../../../shots/jobs.js'
import { writeJsonLine, writeLine } from '../../output.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { analysisStatusText } from './analyze.js'
import { withJobs } from './open.js'

/** Flags of `shots run`. */
type RunOptions = LineOf<typeof shotsRun>

const numbers = (receipt: object): string =>
  Object.entries(receipt)
    .filter(([name, value]) => typeof value === 'number' && !/^(number|duration_ms)$/.test(name))
    .map(([name, value]) => `${name} ${String(value)}`).join(', ')

const textOf = ({ job, at, outcome, receipt, error }: TurnDocument): string => {
  const reason = receipt?.reason ?? null
  const what = error?.message ?? (receipt === null ? '' : numbers(receipt))
  const head = `${at} ${job}: ${outcome}${reason === null ? '' : ` (${reason})`}`
  const standing = receipt?.job === 'screenshot_folder_analysis' ? analysisStatusText(receipt) : ''
  return what === '' ? head : `${head}: ${what}${standing}`
}

const lineText = (line: RunDocument): string => ('event' in line ? 'stopped' : textOf(line))

const say = (deps: VerbDeps, turn: JobTurn): void => {
  deps.progress.clear()
  const line = toldDocument(shotsRun.document(turn), shotsRun.output, deps.carried)
  if (deps.globals.json) writeJsonLine(deps, line)
  else writeLine(deps, lineText(line))
}

export const run: VerbRecord<RunOptions, RunDocument> = {
  summary: 'run the jobs: take in, analyse, digest',
  description:
    'Runs the jobs screenshot_folder_ingest, screenshot_folder_analysis and '
    + 'screenshot_observation_digest on the intervals of the settings. It prints one line for each '
    + 'turn with its receipt. A job that fails comes again; the others go on. A job that another '
    + 'process is running is left alone. It stays in the foreground until Ctrl-C or SIGTERM and '
    + 'ends with status 0 then. With --once each job has one turn, one after another, and the exit '
    + 'status tells the gravest failure: for cron. With --watch it only takes in: it follows the '
    + 'configured folder, takes a finished file in within two seconds, analyses nothing, and '
    + 'prints one line for each look that changed something.',
  examples: [
    '$ sallyport shots run', '$ sallyport shots run --once --json', '$ sallyport shots run --watch',
  ],
  session: 'none',
  contacts: true,
  exits: [
    'rejected', 'unauthorized', 'blocked', 'budget', 'remote', 'no_state', 'locked', 'damaged',
    'partial',
  ],
  json: shotsRun,
  flags: (command) => command
    .option('--once', 'one turn of each job, then end')
    .option('--watch', 'take in new screenshots as they appear, and nothing else'),
  joins: [{
    by: '--watch', load: async () => (await import('./scan.js')).watch,
    line: ({ watch: asked, ...line }) => (asked === undefined ? null : line),
  }],
  text: (line) => `${lineText(line)}\n`,
  run: async (options, deps) => {
    const { once } = requestOf(shotsRun, options)
    const { runJobs, runOnce } = await import('../../../shots/jobs.js')
    return withJobs(deps, async (ctx) => {
      const told = (turn: JobTurn): void => say(deps, turn)
      if (once === true) return shotsRun.answer({ ended: await runOnce(ctx, told) })
      await runJobs(ctx, told)
      return shotsRun.answer({ ended: [] })
    }, 'job')
  },
}

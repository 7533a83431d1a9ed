/** `sallyport shots run`: the scheduler's three jobs, on their intervals or once. */
import { moneyText } from '../../../base/money.js'
import { toldDocument } from '../../../base/told-document.js'
import { shotsRun, type RunDocument, type TurnDocument } from '../../../shots/jobs-contract.js'
import type { JobTurn } from '../../../shots/jobs.js'
import { writeJsonLine, writeLine, type View } from '../../output.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { analysisStatusText } from './analyze.js'
import { withJobs } from './open.js'

type RunOptions = LineOf<typeof shotsRun>

const counted = (receipt: object): readonly [string, number][] =>
  Object.entries(receipt).flatMap(([name, value]) =>
    (typeof value === 'number' && !/^(number|duration_ms)$/.test(name) ? [[name, value]] : []))

/** Settings of a turn, and what its status tells in words. */
const notForPeople = new Set(['limit', 'concurrency', 'timeout_seconds', 'passed_over'])

/** What a person is told of a turn: no zero, no setting, money as money. */
const forPeople = (receipt: object): string =>
  counted(receipt).filter(([name, value]) => value !== 0 && !notForPeople.has(name))
    .map(([name, value]) => (name.endsWith('_microusd')
      ? `${name.replace(/_microusd$/, '').replaceAll('_', ' ')} ${moneyText(value)}`
      : `${name.replaceAll('_', ' ')} ${value}`))
    .join(', ')

const forLogs = (receipt: object): string =>
  counted(receipt).map(([name, value]) => `${name} ${value}`).join(', ')

/** What a job does, as the summary of the verb has it. */
const jobText: Readonly<Record<TurnDocument['job'], string>> = {
  screenshot_folder_ingest: 'take in',
  screenshot_folder_analysis: 'analyse',
  screenshot_observation_digest: 'digest',
}

const textOf = ({ job, at, outcome, receipt, error }: TurnDocument, view: View): string => {
  const isRead = view.terminal
  const reason = receipt?.reason ?? null
  const numbers = isRead ? forPeople : forLogs
  const what = error?.message ?? (receipt === null ? '' : numbers(receipt))
  const name = isRead ? jobText[job] : job
  const head = `${view.time(at)} ${name}: ${outcome}${reason === null ? '' : ` (${reason})`}`
  const standing = receipt?.job === 'screenshot_folder_analysis' ? analysisStatusText(receipt) : ''
  return what === '' ? `${head}${standing}` : `${head}: ${what}${standing}`
}

const lineText = (line: RunDocument, view: View): string =>
  ('event' in line ? 'stopped' : textOf(line, view))

const say = (deps: VerbDeps, turn: JobTurn): void => {
  deps.progress.clear()
  const line = toldDocument(shotsRun.document(turn), shotsRun.output, deps.carried)
  if (deps.globals.json) writeJsonLine(deps, line)
  else writeLine(deps, lineText(line, deps.view))
}

export const run: VerbRecord<RunOptions, RunDocument> = {
  summary: 'run the jobs: take in, analyse, digest',
  description:
    'Runs the jobs screenshot_folder_ingest, screenshot_folder_analysis and '
    + 'screenshot_observation_digest on the intervals of the settings. It prints one line for each '
    + 'turn with its receipt. A job that fails comes again; the others go on. A job that another '
    + '`shots run` has under way is left alone. It stays in the foreground until Ctrl-C or '
    + 'SIGTERM and ends with status 0 then. With --once each job has one turn, one after another, '
    + 'and the exit status tells the gravest failure: for cron. With --watch it only takes in: it '
    + 'follows the configured folder, takes a finished file in within two seconds, analyses '
    + 'nothing, and prints one line for each look that changed something.',
  examples: [
    '$ sallyport shots run', '$ sallyport shots run --once --json', '$ sallyport shots run --watch',
  ],
  session: 'none',
  contacts: true,
  exits: [
    'rejected', 'unauthorized', 'blocked', 'budget', 'remote', 'no_state', 'locked', 'damaged',
    'partial', 'cancelled',
  ],
  json: shotsRun,
  flags: (command) => command
    .option('--once', 'one turn of each job, then end')
    .option('--watch', 'take in new screenshots as they appear, and nothing else'),
  joins: [{
    by: '--watch', load: async () => (await import('./scan.js')).watch,
    line: ({ watch: asked, ...line }) => (asked === undefined ? null : line),
  }],
  text: (line, view) => `${lineText(line, view)}\n`,
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

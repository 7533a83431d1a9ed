import { fail } from '../../../base/errors.js'
import { gatewayReceiptLine } from '../../../gateway/receipt.js'
import { shotsReport, type ReportDocument } from '../../../shots/report/contract.js'
import { reportPeriod, type ReportPeriod } from '../../../shots/report/period.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { recoverFirst } from '../../work.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'
import { timeZoneOf } from '../../../observations/zone.js'
import { pointInTime } from '../../since.js'

/** Flags of `shots report`. */
type ReportOptions = Omit<LineOf<typeof shotsReport>, 'timeZone'>

const periodOf = ({ since, until }: ReportOptions, deps: VerbDeps): ReportPeriod => {
  const timeZone = timeZoneOf(deps.env)
  const point = (flag: string, text: string): string =>
    pointInTime(flag, text, deps.clock, timeZone)
  return reportPeriod(deps.clock.wallMs(), {
    ...(since === undefined ? {} : { since: point('--since', since) }),
    ...(until === undefined ? {} : { until: point('--until', until) }),
    timeZone,
  })
}

const open = async (options: ReportOptions, deps: VerbDeps) => {
  if (options.conclude !== true) return shotsContext(deps, await deps.gov('see'))
  const gov = await deps.gov('write')
  await recoverFirst(deps, gov)
  return shotsContext(deps, gov)
}

export const report: VerbRecord<ReportOptions, ReportDocument> = {
  summary: 'report a period: facts, what the model wrote, and where it comes from',
  description:
    'Reports the screenshots of a period, the last 24 hours unless said; a day without a time '
    + 'begins at its midnight in the zone of TZ, or of the machine. It holds names, formats, '
    + 'dimensions and sizes; the course of the day; digests and summaries with the model that '
    + 'wrote them; and the ids that they rest on. No picture is in it and nobody is contacted. '
    + '--html writes one page that loads nothing. --conclude first lets the model of the report '
    + 'slot write a conclusion, once for the same inputs; later reports show it.',
  examples: [
    '$ sallyport shots report',
    '$ sallyport shots report --since 2026-11-20 --html day.html',
    '$ sallyport shots report --conclude --json',
  ],
  session: 'none',
  contacts: true,
  exits: [
    'rejected', 'unauthorized', 'conflict', 'blocked', 'budget', 'remote', 'no_state', 'locked',
    'damaged',
  ],
  json: shotsReport,
  flags: (command) => command
    .option('--since <time>', 'begin of the period, included: a day, a time, or an age (8h)')
    .option('--until <time>', 'end of the period, excluded, in the same forms')
    .option('--html <file>', 'write a page to a new file')
    .option('--conclude', 'let the model write a conclusion first (paid, once)')
    .option('--retry', 'with --conclude: one more paid call after one that was refused'),
  text: async ({ report, html_file: file, conclusion }, view) => {
    const { reportText } = await import('../../../observations/text.js')
    const receipt = conclusion?.receipt ?? null
    return {
      out: reportText(report, {
        foreign: (text) => view.foreign(text), strong: (text) => view.paint('bold', text),
      }),
      notes: [
        ...(file === null ? [] : [`page written to ${file}`]),
        ...(receipt === null ? [] : [gatewayReceiptLine(receipt)]),
      ],
    }
  },
  run: async (options, deps) => {
    const { html, conclude = false, retry = false } = options
    if (retry && !conclude) throw fail.usage('conclude_needed', 'Give --retry with --conclude.')
    const period = periodOf(options, deps)
    const ctx = await open(options, deps)
    const { reportShots } = await import('../../../shots/report/report.js')
    return shotsReport.answer(await reportShots(ctx, {
      period,
      html: html === undefined ? null : {
        path: html, cwd: deps.cwd, writing: { carried: deps.carried },
      },
      conclude: conclude ? { retry } : null,
    }))
  },
}

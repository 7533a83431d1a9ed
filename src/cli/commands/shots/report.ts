import { fail } from '../../../base/errors.js'
import { gatewayReceiptLine } from '../../../gateway/receipt.js'
import { shotsReport, type ReportDocument } from '../../../shots/report/report-contract.js'
import { calendarPeriod, reportPeriod, type ReportPeriod } from '../../../shots/report/period.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { recoverFirst } from '../../work.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'
import { periodKinds, type PeriodKind } from '../../../observations/periods.js'
import { timeZoneOf, zoneOf } from '../../../observations/zone.js'
import { pointInTime } from '../../since.js'

/** Flags of `shots report`; a period without its day is that of today. */
type ReportOptions = Omit<LineOf<typeof shotsReport>, 'timeZone' | PeriodKind>
  & { readonly [Kind in PeriodKind]?: string | true }

/** Throws `usage` `periods_together`. */
const kindOf = (options: ReportOptions): PeriodKind | null => {
  const kinds = periodKinds.filter((kind) => options[kind] !== undefined)
  const isSpan = options.since !== undefined || options.until !== undefined
  if (kinds.length + Number(isSpan) > 1) {
    throw fail.usage('periods_together',
      'Give --since and --until, or one of --day, --week and --month.')
  }
  return kinds[0] ?? null
}

const periodOf = (options: ReportOptions, deps: VerbDeps): ReportPeriod => {
  const timeZone = timeZoneOf(deps.env)
  const [kind, nowMs] = [kindOf(options), deps.clock.wallMs()]
  if (kind !== null) {
    const day = options[kind] === true ? undefined : options[kind]
    return calendarPeriod(nowMs, { kind, day, timeZone: zoneOf(timeZone).name })
  }
  const { since, until } = options
  const point = (flag: string, text: string): string =>
    pointInTime(flag, text, deps.clock, timeZone)
  return reportPeriod(nowMs, {
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
    'Reports the screenshots of a period, the last 24 hours unless said; days are those of the '
    + 'zone of TZ, or of the machine. First comes what was done: time by project, activity and '
    + 'application as a model named them, then episodes with their stored sentences. Then what '
    + 'waits for a person, and last what the program did and spent, with names, formats, '
    + 'dimensions and sizes of the files. No picture is in it. Nobody is contacted '
    + 'without --conclude. --day, --week (from Monday) and --month report a whole one; without a '
    + 'day, today\'s. '
    + 'The days of a week or month stand beside each other on one scale. --html writes one page '
    + 'that loads nothing. Where you name a folder for the page of a day, week or month, its name '
    + 'is screenshots-2026-11-20.html, screenshots-2026-W47.html or screenshots-2026-11.html. Such '
    + 'pages link to each other. --conclude first lets the model of the report slot write a '
    + 'conclusion, once for the same inputs; later reports show it.',
  examples: [
    '$ sallyport shots report',
    '$ sallyport shots report --day yesterday --html day.html',
    '$ sallyport shots report --week 2026-11-20',
    '$ sallyport shots report --conclude --json',
  ],
  session: 'none',
  contacts: true,
  exits: [
    'rejected', 'unauthorized', 'conflict', 'blocked', 'budget', 'remote', 'no_state', 'locked',
    'damaged', 'partial',
  ],
  json: shotsReport,
  flags: (command) => command
    .option('--since <time>', 'begin of the period, included: a day, a time, or an age (8h)')
    .option('--until <time>', 'end of the period, excluded, in the same forms')
    .option('--day [day]', 'the whole of a day such as 2026-11-20, today or yesterday')
    .option('--week [day]', 'the whole week, from Monday, in which a day lies')
    .option('--month [day]', 'the whole month in which a day lies')
    .option('--html <file>', 'write a page to a new file, or into a folder')
    .option('--conclude', 'let the model write a conclusion first (paid, once)')
    .option('--retry', 'with --conclude: one more paid call after one that was refused'),
  text: async ({ report, html_file: file, conclusion }, view) => {
    const { reportText } = await import('../../../observations/text.js')
    const receipt = conclusion?.receipt ?? null
    return {
      out: reportText(report, {
        foreign: (text) => view.foreign(text), strong: (text) => view.paint('bold', text),
        told: (text) => view.told(text),
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

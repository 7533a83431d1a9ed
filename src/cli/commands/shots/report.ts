import * as v from 'valibot'
import { fail, SallyportError } from '../../../base/errors.js'
import { isoFromMs } from '../../../base/clock.js'
import { gatewayReceiptLine, gatewayReceiptShape } from '../../../gateway/receipt.js'
import { reportShape } from '../../../observations/report.js'
import type { ShotsContext } from '../../../shots/context.js'
import type { Concluded } from '../../../shots/report/conclude.js'
import type { ReportPeriod } from '../../../shots/report/collect.js'
import type { VerbDeps } from '../../bound.js'
import { Degraded } from '../../../base/contract.js'
import { loginToMutate } from '../../mutate.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { shotsContext } from './context.js'
import { pointInTime, timeZoneOf } from './since.js'

/** Flags of `shots report`. */
export interface ReportOptions {
  readonly since?: string
  readonly until?: string
  readonly html?: string
  readonly conclude?: boolean
  readonly retry?: boolean
}

const schema = v.strictObject({
  report: reportShape,
  /** Where the page was written; null without --html. */
  html_file: v.nullable(v.string()),
  /** What --conclude came to; null without it. */
  conclusion: v.nullable(v.strictObject({
    bought: v.boolean(), conclusion_id: v.string(), receipt: v.nullable(gatewayReceiptShape),
  })),
})
/** Result of `shots report`. */
export type ReportResult = v.InferOutput<typeof schema>

const definition: VerbDefinition<ReportResult> = {
  meta: {
    name: 'shots report',
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
    session: 'required',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'blocked', 'budget', 'remote', 'no_state', 'locked',
      'damaged',
    ],
    json: { version: 1, schema },
  },
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
}

const dayMs = 86_400_000

const periodOf = ({ since, until }: ReportOptions, deps: VerbDeps): ReportPeriod => {
  const nowMs = deps.clock.wallMs()
  const timeZone = timeZoneOf(deps.env)
  const period = {
    since: since === undefined
      ? isoFromMs(nowMs - dayMs) : pointInTime('--since', since, deps.clock, timeZone),
    // Rounded up, so that a screenshot of this very moment is in it.
    until: until === undefined
      ? isoFromMs(nowMs + 1) : pointInTime('--until', until, deps.clock, timeZone),
    timeZone,
  }
  if (period.since < period.until) return period
  throw fail.rejected('period_empty', 'The period ends before it begins.', {
    next: 'Give --since an earlier time than --until.',
  })
}

const open = async (options: ReportOptions, deps: VerbDeps) => {
  const opened = options.conclude === true ? await loginToMutate(deps) : await deps.login('read')
  return { ...opened, ctx: shotsContext(deps, opened.gov) }
}

const report = async (
  ctx: ShotsContext, period: ReportPeriod, file: string | null, concluded: Concluded | null,
): Promise<ReportResult> => {
  const [{ collectReport }, { buildReport }] = await Promise.all([
    import('../../../shots/report/collect.js'), import('../../../observations/report.js'),
  ])
  const built = buildReport(collectReport(ctx, ctx.gov.store.read(), period))
  if (file !== null) {
    const [{ reportPage }, { writeReportFile }] = await Promise.all([
      import('../../../observations/html/page.js'), import('../../../shots/report/file.js'),
    ])
    writeReportFile(file, reportPage(built))
  }
  return {
    report: built,
    html_file: file,
    conclusion: concluded === null ? null : {
      bought: concluded.bought, conclusion_id: concluded.made.conclusion_id,
      receipt: concluded.receipt,
    },
  }
}

/** Reports; with --conclude a failed conclusion still leaves the report. */
export const run: Run<ReportOptions, ReportResult> = async (options, deps) => {
  const { html, conclude = false, retry = false } = options
  if (retry && !conclude) throw fail.usage('conclude_needed', 'Give --retry with --conclude.')
  const period = periodOf(options, deps)
  const { session, ctx } = await open(options, deps)
  let file: string | null = null
  if (html !== undefined) {
    const { reportPath } = await import('../../../shots/report/file.js')
    file = reportPath(ctx, ctx.gov.store.read(), html, deps.cwd)
  }
  if (!conclude) return report(ctx, period, file, null)
  const { concludeReport } = await import('../../../shots/report/conclude.js')
  let concluded: Concluded
  try {
    concluded = await concludeReport(ctx, session, period, { retry })
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'cancelled') throw error
    throw new Degraded(await report(ctx, period, file, null), error)
  }
  return report(ctx, period, file, concluded)
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<ReportOptions, ReportResult> = run): Verb =>
  defineVerb(deps, definition, doIt)

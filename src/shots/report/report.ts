/** One report: checked, concluded where that is asked for, built, and written as a page. */
import { SallyportError } from '../../base/errors.js'
import { partialOf } from '../../base/outcome.js'
import type { PageWriting } from '../../observations/html/shown.js'
import { pageName } from '../../observations/periods.js'
import { buildReport, type ScreenReport } from '../../observations/report.js'
import type { ShotsContext } from '../context.js'
import { collectReport } from './collect.js'
import type { Concluded } from './conclude.js'
import { pagesBeside, reportPath, writeReportFile } from './file.js'
import type { ReportPeriod } from './period.js'

/** What is asked for. */
interface ReportOrder {
  readonly period: ReportPeriod
  /** A new file for the page or a folder for it, and where a relative path of it begins. */
  readonly html: {
    readonly path: string; readonly cwd: string; readonly writing: PageWriting
  } | null
  /** Let the model write a conclusion first; `retry`: once more after one that was refused. */
  readonly conclude: { readonly retry: boolean } | null
}

/** What became of it. */
export interface Reported {
  readonly report: ScreenReport
  /** Canonical path of the page; null where none was asked for, or none could be written. */
  readonly htmlFile: string | null
  readonly concluded: Concluded | null
  /** Why there is no conclusion although one was asked for, or no page beside a bought one. */
  readonly failure: SallyportError | null
}

interface Conclusion {
  readonly concluded: Concluded | null
  readonly failure: SallyportError | null
}

const conclude = async (
  ctx: ShotsContext, { period, conclude: asked }: ReportOrder,
): Promise<Conclusion> => {
  if (asked === null) return { concluded: null, failure: null }
  const { concludeReport } = await import('./conclude.js')
  try {
    return { concluded: await concludeReport(ctx, period, asked), failure: null }
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'cancelled') throw error
    return { concluded: null, failure: error }
  }
}

/**
 * What is told of a page that could not be written. Once a conclusion was asked for, the report
 * stands, with what became of it and what it cost: a request may have been sent. Throws else.
 */
const withoutPage = (
  { concluded, failure }: Conclusion, error: unknown,
): Pick<Reported, 'htmlFile' | 'failure'> => {
  const isTold = error instanceof SallyportError && (failure !== null || concluded?.bought === true)
  if (!isTold) throw error
  const { receipt = null } = concluded ?? {}
  const counts = {
    cost_microusd: receipt?.cost.amount_microusd ?? null,
    operation_id: receipt?.operation_id ?? null,
  }
  return { htmlFile: null, failure: failure ?? partialOf(error, { done: 1, sent: 1, counts }) }
}

/**
 * Reports a period. A conclusion that could not be had is told as `failure`, beside the report, and
 * so is a page that could not be written behind a conclusion.
 * Throws what `reportPath` and `writeReportFile` throw, and `cancelled`.
 */
export const reportShots = async (
  ctx: ShotsContext, order: ReportOrder,
): Promise<Reported> => {
  const { html, period } = order
  const name = period.calendar === undefined ? null : pageName(period.calendar)
  const htmlFile = html === null
    ? null : reportPath(ctx, ctx.gov.store.read(), { ...html, name })
  const conclusion = await conclude(ctx, order)
  const report = buildReport(collectReport(ctx, ctx.gov.store.read(), period))
  if (html !== null && htmlFile !== null) {
    const { reportPage } = await import('../../observations/html/page.js')
    const pages = pagesBeside(htmlFile, name)
    const page = reportPage(report, {
      ...html.writing, ...(pages === undefined ? {} : { pages }),
    })
    try {
      writeReportFile(htmlFile, page)
    } catch (error) {
      return { report, ...conclusion, ...withoutPage(conclusion, error) }
    }
  }
  return { report, htmlFile, ...conclusion }
}

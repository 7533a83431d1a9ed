/**
 * A hook for those who watch routes from outside: it takes their reports and keeps the newest. A
 * report is a note. Nothing in this program reads one to decide anything, and writing one touches
 * no consent, decision, claim, proof or ledger row.
 */
import * as v from 'valibot'
import { isoFromMs } from '../base/clock.js'
import { parseClosed, closedObject } from '../base/schema.js'
import type { Gov } from '../governance/context.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'
import { gatewayLimits, gatewaySchemas } from './constants.js'

/** Names only: short, visible, no spaces that a sentence would need. */
const word = v.pipe(
  v.string(), v.maxLength(gatewayLimits.nameCharsMax),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$/, 'must be a name: letters, digits and . _ : / @ + -'),
)

const inputShape = closedObject({
  schema: v.literal(gatewaySchemas.routeReport),
  route: word,
  profile: word,
  model: word,
  provider: word,
  operation_id: v.nullable(word),
  outcome: word,
})
/** What a hook may report. */
export type RouteReport = v.InferOutput<typeof inputShape>

const rowShape = v.strictObject({
  number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  report: v.strictObject({
    schema: v.literal(gatewaySchemas.routeReport),
    route: word, profile: word, model: word, provider: word,
    operation_id: v.nullable(word), outcome: word,
  }),
  reported_at: v.pipe(v.string(), v.isoTimestamp()),
})
/** A kept report. */
export type RouteReportRow = v.InferOutput<typeof rowShape>

/** Reports by number, padded; at most `gatewayLimits.routeReportsMax`. */
export const routeReportCollection: CollectionSpec<RouteReportRow> = {
  name: 'gateway_route_reports', schema: rowShape, partition: 'one',
}

const idOf = (number: number): string => String(number).padStart(12, '0')

const keepNewest = (tx: Tx): void => {
  const all = tx.all(routeReportCollection)
  for (const { id } of all.slice(0, Math.max(0, all.length - gatewayLimits.routeReportsMax))) {
    tx.remove(routeReportCollection, id)
  }
}

/**
 * Keeps a report. Throws `rejected` `route_report_invalid` for another shape; the text holds
 * nothing of what was received.
 */
export const reportRouteReceipt = (gov: Gov, receipt: unknown): Promise<RouteReportRow> => {
  const report = parseClosed(inputShape, receipt, {
    code: 'route_report_invalid', what: 'the route report',
  })
  return gov.store.transact('route report', (tx) => {
    const number = (tx.all(routeReportCollection).at(-1)?.doc.number ?? 0) + 1
    const row = { number, report, reported_at: isoFromMs(gov.clock.wallMs()) }
    tx.put(routeReportCollection, idOf(number), row)
    keepNewest(tx)
    return row
  })
}

/** The kept reports, oldest first. */
export const routeReports = (view: View): readonly RouteReportRow[] =>
  view.all(routeReportCollection).map(({ doc }) => doc)

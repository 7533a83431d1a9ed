/** What goes into a report and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject } from '../../base/schema.js'
import { gatewayReceiptShape } from '../../gateway/receipt.js'
import { reportShape } from '../../observations/report.js'
import type { Reported } from './report.js'

const reportedShape = v.strictObject({
  report: reportShape,
  /** Where the page was written; null where none was asked for. */
  html_file: v.nullable(v.string()),
  /** What the conclusion came to; null where none was asked for, or none was made. */
  conclusion: v.nullable(v.strictObject({
    bought: v.boolean(), conclusion_id: v.string(), receipt: v.nullable(gatewayReceiptShape),
  })),
})
/** Result of a report. */
export type ReportDocument = v.InferOutput<typeof reportedShape>

const conclusionDocument = ({ concluded }: Reported): ReportDocument['conclusion'] =>
  concluded === null ? null : {
    bought: concluded.bought, conclusion_id: concluded.made.conclusion_id,
    receipt: concluded.receipt,
  }

/** A report of a period; a conclusion that failed still leaves the report. */
export const shotsReport = contract({
  name: 'shots.report',
  input: closedObject({
    /** ISO text, included; 24 hours ago where it is left out. */
    since: v.optional(v.string()),
    /** ISO text, excluded; now where it is left out. */
    until: v.optional(v.string()),
    /** The whole day, week or month in which this day lies: `2026-11-20`, today or yesterday. */
    day: v.optional(v.string()),
    week: v.optional(v.string()),
    month: v.optional(v.string()),
    /** IANA name of the zone in which days are told. */
    time_zone: v.string(),
    /** A new file that the page is written to, or a folder for the page of a day, week or month. */
    html: v.optional(v.string()),
    conclude: v.optional(v.boolean()),
    retry: v.optional(v.boolean()),
  }),
  output: reportedShape,
  toDocument: (reported: Reported) => ({
    report: reported.report,
    html_file: reported.htmlFile,
    conclusion: conclusionDocument(reported),
  }),
  failure: ({ failure }: Reported) => failure,
})

/** What a page shows, and how the commands on it are told. */
import { nothingCarried, type Carried } from '../../base/told.js'
import type { ScreenReport } from '../report.js'

/** How a page is written, besides what it shows. */
export interface PageWriting {
  /** What the commands on it carry, so that they mean the state of the report. */
  readonly carried: Carried
  /** Pages beside it, by the names of their files; left out where it has no name among them. */
  readonly pages?: PagesBeside
}

/** Which pages of other periods lie beside the one that is written. */
export interface PagesBeside { has(name: string): boolean }

/** As where the state is the one that everybody means. */
export const plainWriting: PageWriting = { carried: nothingCarried }

/** A report on its way to a page. */
export type ShownReport = ScreenReport & PageWriting

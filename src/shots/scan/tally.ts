/** The counts of a scan. Every file is counted once, so that a receipt always balances (S-131). */
import type { FileName } from '../observations/observation-rows.js'
import type { ScanFacts } from '../receipts/scan.js'
import type { FileOutcome } from './types.js'

/** Files that a receipt names; the others are only counted. */
const problemsMax = 20

/** One file, as it is counted. */
export interface Counted {
  readonly name: FileName
  readonly outcome: FileOutcome
  /** Counted by reason where there is one. */
  readonly reason: string | null
  /** Named in the receipt. */
  readonly isProblem: boolean
  /** It differs from the image before it in one small rectangle only. */
  readonly changedLittle?: boolean
}

/** Counts so far, as a receipt tells them. */
export type Tally = Readonly<Pick<ScanFacts,
  'ingested' | 'duplicate' | 'suppressed' | 'rejected' | 'deferred' | 'known' | 'reasons'
  | 'problems' | 'problems_left_out'
>> & {
  /** Of the ingested: those that differ from the image before them in one small rectangle only. */
  readonly changedLittle: number
}

/** Nothing was looked at yet. */
export const emptyTally: Tally = {
  ingested: 0, duplicate: 0, suppressed: 0, rejected: 0, deferred: 0, known: 0,
  reasons: {}, problems: [], problems_left_out: 0, changedLittle: 0,
}

/** With that many files that were known and not read. */
export const tallyKnown = (tally: Tally, files: number): Tally =>
  ({ ...tally, duplicate: tally.duplicate + files, known: tally.known + files })

/** With that many files put off for one reason, none of them named. */
export const tallyDeferred = (tally: Tally, files: number, reason: string): Tally =>
  files === 0 ? tally : {
    ...tally,
    deferred: tally.deferred + files,
    reasons: { ...tally.reasons, [reason]: (tally.reasons[reason] ?? 0) + files },
  }

/** With these files. */
export const tallyFiles = (tally: Tally, files: readonly Counted[]): Tally => {
  const counts = { ...tally }
  const reasons = { ...tally.reasons }
  const problems = [...tally.problems]
  for (const { name, outcome, reason, isProblem, changedLittle = false } of files) {
    counts[outcome] += 1
    if (changedLittle) counts.changedLittle += 1
    if (reason === null) continue
    reasons[reason] = (reasons[reason] ?? 0) + 1
    if (!isProblem) continue
    if (problems.length < problemsMax) problems.push({ name, reason })
    else counts.problems_left_out += 1
  }
  return { ...counts, reasons, problems }
}

/** Files looked at: the sum of the five. */
export const scannedOf = (tally: Omit<Tally, 'changedLittle'>): number =>
  tally.ingested + tally.duplicate + tally.suppressed + tally.rejected + tally.deferred

/** What an ended call makes of an observation; pure, so that the whole table can be tested. */
import type { ErrorKind } from '../../base/errors.js'
import { closedBySave } from '../../governance/stops/stop.js'
import { resultNotStored } from '../../gateway/call/not-stored.js'
import type { CallOutcome } from '../../gateway/receipt.js'
import type { AnalysisStatus } from '../constants.js'
import type { Observation, PayloadRef } from '../observations/observation-rows.js'
import type { RunningAnalysis } from './analysis-rows.js'

/** What a receipt says of one image (S-136); `skipped` was left as it was, for a later pass. */
export type ItemOutcome = 'succeeded' | 'failed' | 'blocked' | 'skipped'

/** How a call ended, as far as the observation is concerned. */
interface AnalysisEnd {
  readonly outcome: CallOutcome
  readonly reason: string | null
  /** Class of what kept it from being sent; null when it may have been sent. */
  readonly errorKind: ErrorKind | null
}

/** Kinds that a person mends; the image waits, blocked, with the reason. */
export const blockingKinds: ReadonlySet<ErrorKind> = new Set(['blocked', 'unauthorized', 'budget'])

/** The file went between its reading and the first byte; nothing was sent. */
export const sourceMissing = 'source_missing'
/** It is another file than the one that was read; a later pass reads it anew. */
export const sourceChanged = 'source_changed'

/** Another folder was chosen while the image waited; it is an image of before. */
export const folderChanged = 'folder_changed'

/** Nothing about the image has failed: the environment forbade the contact, or it moved. */
const leaving: ReadonlySet<string | null> =
  new Set(['debug_output_refused', sourceChanged, folderChanged, closedBySave])

/** What an end means for the image. */
export const itemOutcomeOf = ({ outcome, reason, errorKind }: AnalysisEnd): ItemOutcome => {
  if (outcome === 'succeeded') return 'succeeded'
  if (outcome !== 'not_contacted') return 'failed'
  // What a save has closed says so itself at the next look.
  if (leaving.has(reason)) return 'skipped'
  if (errorKind !== null && blockingKinds.has(errorKind)) return 'blocked'
  return errorKind === 'locked' || errorKind === 'cancelled' || errorKind === 'remote'
    ? 'skipped' : 'failed'
}

const found = (classification: Observation['classification']): Observation['classification'] =>
  classification === 'source_missing' ? null : classification

const details: Readonly<Partial<Record<CallOutcome, string>>> = {
  charge_unknown: 'It may have been sent and its charge is not known; it is not sent again by '
    + 'itself.',
  reply_rejected: 'The reply was not what was asked for; the charge stands.',
  overrun: 'The charge passed the bound and needs a review; the reply was not used.',
  authority_lost: 'The permission ended before the reply came; the charge stands.',
  not_contacted: 'Nothing was sent.',
}

/** What is told of a row; a refusal is told with its status. */
const detailOf = ({ outcome, reason }: Pick<AnalysisEnd, 'outcome' | 'reason'>): string | null => {
  if (reason === resultNotStored) return 'The analysis could not be written; its charge stands.'
  const status = outcome === 'charge_unknown' ? /^http_status_(\d+)$/.exec(reason ?? '')?.[1] : null
  return status === null || status === undefined ? details[outcome] ?? null
    : `The gateway answered with status ${status}; its charge is not known, and it is not sent `
      + 'again by itself.'
}

/**
 * What a row is whose image is at none of its paths any more; the status stays for when it comes
 * back (S-154). Only one that was never analysed is missing something: an analysis that was paid
 * for stands without its file, and stays in digests and reports.
 */
export const withoutSource = (row: Observation): Observation =>
  row.payload === null ? { ...row, classification: 'source_missing' } : row

/** A failed reanalysis loses nothing: what succeeded before stays, marked as earlier. */
const earlier = (payload: PayloadRef | null): PayloadRef | null =>
  payload === null ? null : { ...payload, earlier: true }

/**
 * A row whose status a call that sent nothing does not take away. What failed stays failed, and
 * uncertain where it was: blocked it would become pending by itself one day (S-168).
 */
const keepsStatus = (status: AnalysisStatus): boolean =>
  status === 'succeeded' || status === 'needs_reanalysis' || status === 'failed'

type Before = RunningAnalysis['before']

/** The call that a row goes on telling where a later one sent nothing: its charge may be open. */
const callBefore = (
  { contact, operation_id: operation, input_digest: digest }: Before,
): Partial<Pick<Observation['analyzer'], 'operation_id' | 'input_digest'>> =>
  (contact === 'none' || operation === undefined || digest === undefined
    ? {} : { operation_id: operation, input_digest: digest })

/**
 * The row after its call, from the row as it is now: a scan may have counted more like images
 * meanwhile, it may have been archived. Only status, payload and analyzer change.
 */
export const rowAfter = (
  row: Observation, before: Before, end: AnalysisEnd,
  payload: PayloadRef | null, now: string,
): Observation => {
  const item = itemOutcomeOf(end)
  const analyzer = { ...row.analyzer, updated_at: now }
  if (item === 'succeeded' && payload !== null) {
    return {
      // It was read a moment ago, so it is not missing, whatever an earlier look found.
      ...row, analysis_status: 'succeeded', payload, classification: found(row.classification),
      analyzer: { ...analyzer, reason: null, detail: null, contact: 'ended' },
    }
  }
  const gone = item === 'blocked' && end.reason === sourceMissing
  if (gone) return withoutSource(rowReturned(row, before, now))
  if (item === 'skipped' || (item === 'blocked' && keepsStatus(before.analysis_status))) {
    const isTold = item === 'skipped' && !keepsStatus(before.analysis_status)
    return rowReturned(row, isTold ? { ...before, reason: end.reason } : before, now)
  }
  const detail = detailOf(end)
  if (item === 'blocked') {
    return {
      ...row, analysis_status: 'blocked',
      analyzer: { ...analyzer, reason: end.reason, detail, contact: before.contact },
    }
  }
  // What was not sent changes nothing about a request before it that nobody knows the end of.
  const stays = end.outcome === 'not_contacted' && before.contact === 'uncertain'
  const contact = end.outcome === 'charge_unknown' || stays ? 'uncertain' : 'ended'
  return {
    ...row, analysis_status: 'failed', payload: earlier(row.payload),
    classification: found(row.classification),
    analyzer: {
      ...analyzer, ...(stays ? callBefore(before) : {}), reason: end.reason ?? end.outcome, detail,
      contact,
    },
  }
}

/**
 * The row of an image that repeats one which was described: it has that analysis, paid for then and
 * told as such. What becomes of the other row later changes nothing about it.
 */
export const rowRepeating = (
  row: Observation,
  { observation_id, captured_at, payload }: Observation & { readonly payload: PayloadRef },
  now: string,
): Observation => {
  const { analyzer } = row
  const payload_of = { observation_id, captured_at, analyzed_at: payload.analyzed_at }
  return {
    ...row, analysis_status: 'succeeded',
    payload: { ...payload, cost_microusd: 0, analyzed_at: now, payload_of },
    analyzer: {
      ...analyzer, attempts: analyzer.attempts + 1, reason: null, detail: null, updated_at: now,
    },
  }
}

/** The row of a process that died after it may have sent (S-168): failed, uncertain, kept so. */
export const rowInterrupted = (row: Observation, now: string): Observation => ({
  ...row, analysis_status: 'failed', payload: earlier(row.payload),
  analyzer: {
    ...row.analyzer, reason: 'interrupted_after_contact',
    detail: details.charge_unknown ?? null, contact: 'uncertain', updated_at: now,
  },
})

/** The row of a process that died before it sent anything: as it was before the claim. */
export const rowReturned = (
  row: Observation, before: Before, now: string,
): Observation => {
  const { analysis_status, reason, detail, contact } = before
  return {
    ...row, analysis_status,
    analyzer: {
      ...row.analyzer, ...callBefore(before), reason, detail, contact, updated_at: now,
    },
  }
}

/**
 * The row of a request that nobody knows the end of, in a state that would send it again by itself
 * (rows of an earlier version): failed and uncertain, as it was before (S-168).
 */
export const rowUncertain = (row: Observation, now: string): Observation => ({
  ...row, analysis_status: 'failed',
  analyzer: {
    ...row.analyzer, reason: 'charge_unknown', detail: details.charge_unknown ?? null,
    updated_at: now,
  },
})

/** A request for the same bytes that another row knows of, or only its claim. */
export interface CallBefore {
  readonly operationId: string | null
  readonly inputDigest: string | null
  /** Nobody knows whether it was sent or what it cost. */
  readonly uncertain: boolean
  readonly outcome: CallOutcome
  readonly reason: string | null
  /** The analysis that it gave, where a row still has it. */
  readonly payload: PayloadRef | null
}

/** It was paid for, but this state has no such analysis: an old copy was put back since. */
const resultNotHere = 'result_not_here'

/**
 * A row of bytes that a request was made for before, under another row: it has its analysis, or is
 * failed as that one was. It is never sent again by itself (S-168).
 */
export const rowTakenOver = (row: Observation, before: CallBefore, now: string): Observation => {
  const analyzer = {
    ...row.analyzer, operation_id: before.operationId, input_digest: before.inputDigest,
    contact: before.uncertain ? 'uncertain' as const : 'ended' as const, updated_at: now,
  }
  const { payload, outcome } = before
  if (outcome === 'succeeded' && payload !== null) {
    return {
      ...row, analysis_status: 'succeeded', payload,
      analyzer: { ...analyzer, reason: null, detail: null },
    }
  }
  return {
    ...row, analysis_status: 'failed',
    analyzer: {
      ...analyzer,
      reason: before.reason ?? (outcome === 'succeeded' ? resultNotHere : outcome),
      detail: detailOf(before) ?? 'These very bytes were sent and paid for before.',
    },
  }
}

/** What the scheduler tells, one document a line: a turn of a job, or the end of all. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { fail, type SallyportError } from '../base/errors.js'
import { errorBody, errorShape, gravest } from '../base/outcome.js'
import { closedObject } from '../base/schema.js'
import { jobNames, turnOutcomes } from './constants.js'
import { digestReceiptShape } from './digest/types.js'
import type { JobTurn } from './jobs.js'
import { dueFailure, type CallMoney } from './money.js'
import { analysisReceiptShape } from './receipts/analysis.js'
import { scanReceiptShape } from './receipts/scan.js'

const turnShape = v.strictObject({
  job: v.picklist(jobNames),
  at: v.string(),
  outcome: v.picklist(turnOutcomes),
  /** The job's own receipt, as its own verb prints it. */
  receipt: v.nullable(v.union([scanReceiptShape, analysisReceiptShape, digestReceiptShape])),
  error: v.nullable(errorShape),
})
/** One turn of a job. */
export type TurnDocument = v.InferOutput<typeof turnShape>

const endShape = v.strictObject({ event: v.literal('stopped') })
const lineShape = v.union([turnShape, endShape])
/** One line of the scheduler. */
export type RunDocument = v.InferOutput<typeof lineShape>

/** The end, with the turns whose failures count; none where the scheduler was told to stop. */
export interface RunEnd {
  readonly ended: readonly JobTurn[]
}

const lineOf = (told: JobTurn | RunEnd): RunDocument => {
  if ('ended' in told) return { event: 'stopped' }
  const { receipt, error, ...turn } = told
  const body = error === null ? null : errorBody(error).error
  return {
    ...turn, receipt, error: body === null ? null : { ...body, details: { ...body.details } },
  }
}

const callsOf = ({ receipt }: JobTurn): readonly CallMoney[] => {
  if (receipt?.job === 'screenshot_folder_analysis') return receipt.items
  return receipt?.job === 'screenshot_observation_digest' ? receipt.windows : []
}

const turnFailure = (turn: JobTurn): SallyportError | null => {
  if (turn.error !== null) return turn.error
  const due = dueFailure('job', callsOf(turn))
  if (due !== null) return due
  if (turn.outcome !== 'degraded') return null
  const reason = turn.receipt?.reason ?? 'unknown'
  const local = turn.job === 'screenshot_folder_ingest' || reason === 'lock_held'
  return (local ? fail.locked : fail.failed)(
    'job_degraded', 'A job left a part of its work for a later pass.',
    { reason, next: 'See: sallyport shots status', details: { job: turn.job } },
  )
}

const endFailure = (told: JobTurn | RunEnd): SallyportError | null => {
  if (!('ended' in told)) return null
  return gravest(told.ended.map(turnFailure).filter((one) => one !== null))
}

/** The jobs on their intervals, or one turn of each. */
export const shotsRun = contract({
  name: 'shots.run',
  version: 1,
  input: closedObject({ once: v.optional(v.boolean()) }),
  output: lineShape,
  lines: true,
  toDocument: lineOf,
  failure: endFailure,
})

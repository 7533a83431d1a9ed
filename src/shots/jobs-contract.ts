/** What the scheduler tells, one document a line: a turn of a job, or the end of all. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import type { SallyportError } from '../base/errors.js'
import { errorBody, errorShape, gravest, partialOf, type BatchWork } from '../base/outcome.js'
import { closedObject } from '../base/schema.js'
import { analysisFailure, analysisWork, callsOfReceipt } from './analysis/analysis-contract.js'
import { jobNames, turnOutcomes } from './constants.js'
import { callsOfTick, digestFailure, digestWork } from './digest/digest-contract.js'
import { digestReceiptShape, type DigestReceipt } from './digest/types.js'
import type { JobTurn } from './jobs.js'
import { dueFailure, type CallMoney } from './money.js'
import { analysisReceiptShape } from './receipts/analysis.js'
import { scanFailure, scanReceiptShape } from './receipts/scan.js'

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
interface RunEnd {
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
  if (receipt?.job === 'screenshot_folder_analysis') return callsOfReceipt(receipt)
  return receipt?.job === 'screenshot_observation_digest' ? callsOfTick(receipt) : []
}

/** What closes a route of texts that was open: anything else says that nobody set it up. */
const closesOpenRoute: ReadonlySet<string> =
  new Set(['proof_stale', 'budget_exhausted', 'budget_below_bound', 'ceiling_exceeded'])

/** Whoever has images analysed and no digests written has no failing job. */
const isNotSetUp = ({ status, reason, paused_until: until }: DigestReceipt): boolean =>
  status === 'blocked' && until === null && !closesOpenRoute.has(reason ?? '')

/** A job's failure is what its own verb would end with; a charge to settle is told for the job. */
const turnFailure = (turn: JobTurn): SallyportError | null => {
  if (turn.error !== null) return turn.error
  const due = dueFailure('job', callsOf(turn))
  if (due !== null) return due
  const { receipt } = turn
  if (receipt?.job === 'screenshot_folder_analysis') return analysisFailure(receipt)
  if (receipt?.job === 'screenshot_observation_digest') {
    return isNotSetUp(receipt) ? null : digestFailure(receipt)
  }
  return receipt === null ? null : scanFailure(receipt)
}

const nothingDone: BatchWork = { done: 0, sent: 0, counts: {} }

const workOf = ({ receipt }: JobTurn): BatchWork => {
  if (receipt?.job === 'screenshot_folder_analysis') return analysisWork(receipt)
  return receipt?.job === 'screenshot_observation_digest' ? digestWork(receipt) : nothingDone
}

/** What all turns did together; a count of several jobs is their sum. */
const workOfAll = (turns: readonly JobTurn[]): BatchWork => {
  const counts: Record<string, number> = {}
  let [done, sent] = [0, 0]
  for (const work of turns.map(workOf)) {
    done += work.done
    sent += work.sent
    for (const [name, count] of Object.entries(work.counts)) {
      counts[name] = (counts[name] ?? 0) + Number(count)
    }
  }
  return { done, sent, counts }
}

const isDue = ({ reason }: SallyportError): boolean =>
  reason === 'charge_unknown' || reason === 'overrun_review_required'

const endFailure = (told: JobTurn | RunEnd): SallyportError | null => {
  if (!('ended' in told)) return null
  const failure = gravest(told.ended.map(turnFailure).filter((one) => one !== null))
  return failure !== null && isDue(failure)
    ? failure : partialOf(failure, workOfAll(told.ended))
}

/** The jobs on their intervals, or one turn of each. */
export const shotsRun = contract({
  name: 'shots.run',
  input: closedObject({ once: v.optional(v.boolean()) }),
  output: lineShape,
  lines: true,
  toDocument: lineOf,
  failure: endFailure,
})

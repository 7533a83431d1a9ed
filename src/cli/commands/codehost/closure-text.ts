/** Receipts of closures, lists of them and verdicts on requests, as text. */
import type { ClosureLine, InspectionDocument } from '../../../codehost/closure/closure-contract.js'
import type { ClosureReceipt } from '../../../codehost/jobs/closed/receipt-shape.js'
import type { View } from '../../output.js'
import { bytesText, fieldLines } from '../../text.js'

const jobState = ({ job }: ClosureReceipt): string =>
  (job.reason === null ? job.state : `${job.state} (${job.reason})`)

export const receiptText = (receipt: ClosureReceipt): string => {
  const { evidence, connection, job, task, effects } = receipt
  return fieldLines([
    ['closure', receipt.closure_id],
    ['closed', receipt.closed_at],
    ['job', `${job.id}, still ${jobState(receipt)}, revision ${job.revision}`],
    ...(task === null ? [] : [['task', `${task.id}, still ${task.state}`] as const]),
    ['connection', `${connection.id} (${connection.repository}), free`],
    ['effects', `${effects.contacted} may have happened, ${effects.observed} observed`],
    ['evidence', `${evidence.fresh} read now, ${evidence.earlier} of before; `
      + `${evidence.gets} GETs, ${bytesText(evidence.raw_bytes)}`],
    ['account', evidence.artifact_sha256],
    ['so', receipt.statement],
  ])
}

export const closureCells = (view: View, line: ClosureLine): readonly string[] => [
  view.id(line.closure), view.time(line.closed_at), view.id(line.job), line.job_state,
  line.repository, String(line.observed_effects),
]
/** Heads of those cells. */
export const closureHeads =
  ['closure', 'closed', 'job', 'job state', 'repository', 'observed'] as const

type Field = readonly [string, string]

const saysOf = ({ verdict, reason, job }: InspectionDocument, view: View): readonly Field[] => {
  if (verdict === 'applied') return [['so', 'This very request closed the capacity.']]
  if (verdict === 'stale') {
    return [
      ['so', `It was not applied and never can be (${reason ?? 'stale'}).`],
      ['next', view.command(`codehost recover discard ${job}`)],
    ]
  }
  return [
    ['so', 'Neither is proved: it may still apply.'],
    ['next', view.command(`codehost close-capacity ${job} --retry`)],
  ]
}

export const inspectionText = (document: InspectionDocument, view: View): string => fieldLines([
  ['job', document.job],
  ['key', document.idempotency_key],
  ['verdict', document.verdict],
  ...saysOf(document, view),
]) + (document.receipt === null ? '' : `\n${receiptText(document.receipt)}`)

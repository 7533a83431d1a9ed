import { fail, type SallyportError } from '../../../base/errors.js'
import { blockedNext } from '../../../shots/analysis/blocked.js'
import { shotLimits } from '../../../shots/constants.js'
import {
  analysisReceiptShape, type AnalysisItem, type AnalysisReceipt,
} from '../../../shots/analysis/types.js'
import { gateTextOf } from '../../../shots/gates.js'
import { dueFailure } from '../../../shots/money.js'
import type { VerbDeps } from '../../bound.js'
import { Degraded } from '../../../base/contract.js'
import { integerFlag } from '../../flags.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { withJobs } from './open.js'

/** Flags of `shots analyze`. */
export interface AnalyzeVerbOptions {
  readonly limit?: number
}

const line = ({ observation_id: id, outcome, ...one }: AnalysisItem): string => {
  const { reason, cost_microusd: cost, held_microusd: held } = one
  const parts = [
    id, outcome,
    ...(reason === null ? [] : [reason]),
    ...(cost === null ? [] : [`${cost} micro-USD`]),
    ...(held === null ? [] : [`${held} micro-USD stay held`]),
  ]
  return `${parts.join('  ')}\n`
}

const passedOver = ({ passed_over: count, ...receipt }: AnalysisReceipt): string[] => {
  if (count === 0) return []
  const reasons = receipt.passed_over_reasons
  const told = reasons.map((one) => `${one.count} ${one.reason}`).join(', ')
  const [first] = reasons
  return [
    `${count} blocked and passed over${told === '' ? '' : `: ${told}`}`,
    ...(first === undefined ? [] : [blockedNext(first.reason)]),
  ]
}

/** The receipt for people. */
export const analysisReceiptText = (receipt: AnalysisReceipt): { out: string, notes: string[] } => {
  const { scanned, analyzed, failed, blocked, skipped, cost_microusd: cost } = receipt
  const counts = `${scanned} looked at: ${analyzed} analysed, ${failed} failed, `
    + `${blocked} blocked, ${skipped} left for later; ${cost} micro-USD\n`
  const gate = receipt.reason === null ? null : gateTextOf(receipt.reason)
  const notes = [
    ...(gate === null ? [] : [gate.text, gate.next]), ...passedOver(receipt),
  ]
  return {
    out: receipt.items.map(line).join('') + counts,
    notes: [
      ...(receipt.restored === 0 ? [] : [`${receipt.restored} blocked before, pending again`]),
      ...(receipt.needs_reanalysis === 0
        ? [] : [`${receipt.needs_reanalysis} need reanalysis: model, prompt or schema changed`]),
      ...new Set(notes),
      ...(receipt.receipt_id === null ? [] : [`receipt ${receipt.receipt_id}`]),
    ],
  }
}

/** The failure that a receipt tells of; null for a good one. */
export const analysisFailure = (receipt: AnalysisReceipt): SallyportError | null => {
  const { status, reason } = receipt
  const due = dueFailure('analysis', receipt.items)
  if (due !== null) return due
  if (status === 'ok') return null
  const gate = reason === null ? null : gateTextOf(reason)
  const parts = {
    ...(reason === null ? {} : { reason }), next: gate?.next ?? 'See: sallyport shots status',
  }
  if (status === 'blocked') {
    const make = reason === 'budget_exhausted' ? fail.budget : fail.blocked
    const said = 'Some images are blocked; their reason stands with them.'
    return make('analysis_blocked', said, parts)
  }
  if (reason === 'cancelled' || reason === 'call_cancelled') {
    return fail.cancelled('analysis_cancelled', 'Stopped; what is left waits.', parts)
  }
  if (receipt.failed > 0 || receipt.receipt_id === null) {
    const make = receipt.receipt_id === null ? fail.locked : fail.remote
    return make('analysis_degraded', 'Not every image could be analysed.', parts)
  }
  return fail.locked('analysis_degraded', 'Work was left for a later pass.', parts)
}

const definition: VerbDefinition<AnalysisReceipt> = {
  meta: {
    name: 'shots analyze',
    summary: 'have pending images analysed through the gateway',
    description:
      'Takes the oldest pending images, judges every gate again, and sends each at most once to '
      + 'the vision model of the screenshot slot. Blocked images whose reason is gone become '
      + 'pending first; those from before the consent stay blocked. A paid request whose outcome '
      + 'is not known is never repeated by itself. The receipt counts every image once: looked at '
      + '= analysed + failed + blocked + left for later.',
    examples: ['$ sallyport shots analyze', '$ sallyport shots analyze --limit 50 --json'],
    session: 'none',
    exits: [
      'rejected', 'unauthorized', 'blocked', 'budget', 'remote', 'no_state', 'locked', 'damaged',
      'cancelled',
    ],
    json: { version: 1, schema: analysisReceiptShape },
  },
  flags: (command) => command.addOption(integerFlag(
    '--limit <n>',
    `most images of this pass; analysis_limit of the settings, else ${
      shotLimits.analysisItemsDefault}`,
    { min: 1, max: shotLimits.analysisItemsMax },
  )),
  text: (receipt) => analysisReceiptText(receipt),
}

/** One pass. */
export const run: Run<AnalyzeVerbOptions, AnalysisReceipt> = async ({ limit }, deps) => {
  const { analyzeBatch } = await import('../../../shots/analysis/batch.js')
  const receipt = await withJobs(deps, (ctx) => analyzeBatch(ctx, {
    scheduled: false, ...(limit === undefined ? {} : { limit }),
  }))
  const failure = analysisFailure(receipt)
  if (failure !== null) throw new Degraded(receipt, failure)
  return receipt
}

/** The verb. */
export const build = (
  deps: VerbDeps, doIt: Run<AnalyzeVerbOptions, AnalysisReceipt> = run,
): Verb => defineVerb(deps, definition, doIt)

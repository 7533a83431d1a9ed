import { moneyText } from '../../../base/money.js'
import { shotLimits } from '../../../shots/constants.js'
import { included, nextOfPass, shotsAnalyze } from '../../../shots/analysis/analysis-contract.js'
import { gateTextOf } from '../../../shots/gates.js'
import type { AnalysisItem, AnalysisReceipt } from '../../../shots/receipts/analysis.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import { verb } from '../../verb.js'
import { withJobs } from './open.js'

const line = ({ observation_id: id, outcome, ...one }: AnalysisItem): string => {
  const { reason, cost_microusd: cost, held_microusd: held, reused = false } = one
  const parts = [
    id, outcome,
    ...(reused ? ['as an earlier image'] : []),
    ...(reason === null ? [] : [reason]),
    ...(cost === null ? [] : [moneyText(cost)]),
    ...(held === null ? [] : [`${moneyText(held)} stay held`]),
  ]
  return `${parts.join('  ')}\n`
}

const renewed = ({ proof_renewal: one }: AnalysisReceipt): string[] => (one === null ? [] : [
  `proof of ${one.slot}: ${one.outcome}${one.reason === null ? '' : ` (${one.reason})`}`
    + `${one.cost_microusd === null ? '' : `, ${moneyText(one.cost_microusd)}`}`,
])

/** How many images wait for a later pass, and how long; empty where there are none. */
const waitingText = ({ waiting, waiting_since: since }: AnalysisReceipt): string =>
  (since === null ? '' : `; ${waiting} wait, the oldest since ${since}`)

/** How many images no pass takes up, and why; empty where there are none. */
export const analysisStatusText = (receipt: AnalysisReceipt): string => {
  const { passed_over: count, passed_over_reasons: reasons } = receipt
  if (count === 0) return ''
  const why = reasons.map((one) => `${one.count} ${one.reason}`).join(', ')
  return `; ${count} stand blocked${why === '' ? '' : ` (${why})`}`
}

const passedOver = ({ passed_over: count, ...receipt }: AnalysisReceipt): string[] => {
  if (count === 0) return []
  const reasons = receipt.passed_over_reasons
  const told = reasons.map((one) => `${one.count} ${one.reason}`).join(', ')
  return [`${count} blocked and passed over${told === '' ? '' : `: ${told}`}`]
}

/** How many of the blocked ones a later image stands for. */
const heldText = ({ unsettled: count }: AnalysisReceipt): string =>
  (count === 0 ? '' : ` (${count} unsettled)`)

export const analysisReceiptText = (receipt: AnalysisReceipt): { out: string, notes: string[] } => {
  const { scanned, analyzed, failed, blocked, skipped, cost_microusd: cost } = receipt
  const repeats = receipt.reused === 0 ? '' : ` (${receipt.reused} as earlier images, unpaid)`
  const counts = `${scanned} looked at: ${analyzed} analysed${repeats}, ${failed} failed, `
    + `${blocked} blocked${heldText(receipt)}, ${skipped} left for later; ${moneyText(cost)}`
    + `${waitingText(receipt)}${analysisStatusText(receipt)}\n`
  const next = nextOfPass(receipt)
  const gate = receipt.reason === null ? null : gateTextOf(receipt.reason)
  const notes = [
    ...(gate === null ? [] : [gate.text]), ...passedOver(receipt), ...(next === null ? [] : [next]),
  ]
  return {
    out: receipt.items.map(line).join('') + counts,
    notes: [
      ...renewed(receipt),
      ...(receipt.restored === 0 ? [] : [`${receipt.restored} blocked before, pending again`]),
      ...(receipt.needs_reanalysis === 0
        ? [] : [`${receipt.needs_reanalysis} need reanalysis: model, prompt or schema changed`]),
      ...new Set(notes),
      ...(receipt.receipt_id === null ? [] : [`receipt ${receipt.receipt_id}`]),
    ],
  }
}

export const analyze = verb(shotsAnalyze, {
  summary: 'have pending images analysed through the gateway',
  description:
    'Takes pending images, the newest day first and of each day the oldest first. It judges '
    + 'every gate again, and sends each at most once to the vision model of the screenshot slot. '
    + 'A repeat of a described image takes that text, unsent and unpaid. '
    + 'With settle_seconds one image in so many seconds of a '
    + 'region that goes on changing is sent; the others are held, blocked as unsettled. '
    + 'Blocked images whose reason is gone become pending first; those from before the consent '
    + 'stay blocked. A paid request whose outcome is not known is never repeated by itself. The '
    + 'receipt counts every image once: looked at = analysed + failed + blocked + left for later.',
  examples: ['$ sallyport shots analyze', '$ sallyport shots analyze --limit 50 --json'],
  session: 'none',
  contacts: true,
  exits: [
    'rejected', 'unauthorized', 'blocked', 'budget', 'remote', 'no_state', 'locked', 'damaged',
    'partial',
    'cancelled',
  ],
  flags: (command) => command.addOption(choiceFlag(
    '--include <what>', 'images that are held for later ones, too; this pass holds none', included,
  )).addOption(integerFlag(
    '--limit <n>',
    `most images of this pass; analysis_limit of the settings, else ${
      shotLimits.analysisItemsDefault}`,
    { min: 1, max: shotLimits.analysisItemsMax },
  )),
  text: analysisReceiptText,
  run: async ({ limit, include }, deps) => {
    const { analyzeBatch } = await import('../../../shots/analysis/batch.js')
    const receipt = await withJobs(deps, (ctx) => analyzeBatch(ctx, {
      scheduled: false, ...(limit === undefined ? {} : { limit }),
      ...(include === undefined ? {} : { include }),
    }))
    return receipt
  },
})

/**
 * What of the images waits for a person, as the report of a day tells it: a page that says that
 * nothing waits never leads to a report that tells of something.
 */
import { countText } from '../../base/counted.js'
import { moneyText } from '../../base/money.js'
import { nextStepsOf } from '../../base/next-step.js'
import type { ShotsContext } from '../../shots/context.js'
import { overspent, waitingImages, type WaitingImages } from '../../shots/waiting.js'
import type { View } from '../../state/types.js'
import type { Waiting } from './contract.js'

const budgetWaits = (over: number | null): readonly Waiting[] => (over === null ? [] : [{
  what: 'budget', count: 1, text: `The budget of the day is overspent by ${moneyText(over)}.`,
  command: 'sallyport shots config set --budget-microusd N',
}])

/** Sends images again: nobody does that before they looked at which. */
const sends = /^sallyport shots reanalyze /

const commandOf = ({ status, next }: WaitingImages): string => {
  const [first] = nextStepsOf(next)
  return first === undefined || sends.test(first.command)
    ? `sallyport shots list --status ${status}` : first.command
}

const textOf = ({ status, reason, count, text }: WaitingImages): string => {
  const images = countText(count, 'image')
  const are = count === 1 ? 'is' : 'are'
  if (status === 'failed') {
    return `${images} failed (${String(reason)}) and ${are} sent again only where you ask for it.`
  }
  if (reason === null) return `${images} ${are} blocked, and why was not looked at.`
  return text === null
    ? `${images} ${are} blocked (${reason}).` : `${images} ${are} not analysed: ${text}`
}

/** Reads it. */
export const imageWaits = (ctx: ShotsContext, view: View): readonly Waiting[] => [
  ...budgetWaits(overspent(ctx, view)),
  ...waitingImages(ctx, view).map((one): Waiting => (
    { what: 'images', count: one.count, text: textOf(one), command: commandOf(one) })),
]

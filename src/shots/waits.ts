/**
 * What of the images waits for a person, as the report of a day tells it: where nothing is told
 * here, no report tells of something. Besides, what keeps the jobs of this source from their work.
 */
import { countText } from '../base/counted.js'
import { moneyText } from '../base/money.js'
import { nextStepsOf } from '../base/next-step.js'
import { gatewayFacts } from '../gateway/readiness.js'
import { isToldToWait } from '../gateway/waiting.js'
import type { OwnWaiting } from '../governance/waiting.js'
import type { View } from '../state/types.js'
import type { ShotsContext } from './context.js'
import { lastFailures, lastRuns } from './last-runs.js'
import { currentFacts, type CurrentFacts } from './observations/as-of-now.js'
import { textPause, visionPause } from './paused.js'
import { tolerantSettings } from './source/config.js'
import { closedDigests } from './texts/readiness.js'
import { isSwitchedOff, overspent, waitingImages, type WaitingImages } from './waiting.js'

const budgetWaits = (over: number | null): readonly OwnWaiting[] => (over === null ? [] : [{
  what: 'budget', count: 1, text: `The budget of the day is overspent by ${moneyText(over)}.`,
  command: 'sallyport shots setup --budget USD',
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

/** What goes on by itself, but sooner where a person mends what the gateway refuses for. */
const pauses = (ctx: ShotsContext, view: View): readonly OwnWaiting[] =>
  [visionPause(ctx, view), textPause(ctx, view)].flatMap((pause) => (pause === null ? [] : [{
    what: 'pause' as const, count: 1, command: 'sallyport shots status',
    text: `Nothing goes through the slot ${pause.slot} until ${pause.until}: the gateway refused `
      + `${countText(pause.refusals, 'request')} in a row (${pause.reason}).`,
  }]))

const failedRuns = (
  ctx: ShotsContext, view: View, { folderDigest }: CurrentFacts,
): readonly OwnWaiting[] => lastFailures(ctx.gov.store, view, folderDigest)
    .map(({ job, reason }) => ({
      what: 'run', count: 1,
      text: `The last run of ${job} failed${reason === null ? '' : ` (${reason})`}.`,
      command: job === 'scan' ? 'sallyport shots status' : 'sallyport shots list --digests',
    }))

/** Digests that a job is to write and cannot, until a person opens their route. */
const digestWaits = (ctx: ShotsContext, view: View): readonly OwnWaiting[] => {
  const { saved, digestEnabled } = tolerantSettings(view, ctx.env).settings
  const isAsked = saved.analysis === 'on' && digestEnabled.value
    && lastRuns(ctx.gov.store, view).digest !== null
  const closed = isAsked ? closedDigests(ctx, view) : null
  if (closed === null || isSwitchedOff(closed.reason, saved)) return []
  const facts = gatewayFacts(ctx.gov, view, ctx.gateway.place)
  return isToldToWait(facts, 'gateway.digest', closed.reason) ? [] : [{
    what: 'run', count: 1, text: `No digest is written: ${closed.text}`,
    command: nextStepsOf(closed.next)[0]?.command ?? 'sallyport shots list --digests',
  }]
}

/** Finds it. */
export const shotsWaiting = (ctx: ShotsContext, view: View): readonly OwnWaiting[] => {
  const now = currentFacts(ctx, view)
  return [
    ...budgetWaits(overspent(ctx, view)),
    ...failedRuns(ctx, view, now),
    ...digestWaits(ctx, view),
    ...waitingImages(ctx, view, now).map((one): OwnWaiting => (
      { what: 'images', count: one.count, text: textOf(one), command: commandOf(one) })),
    ...pauses(ctx, view),
  ]
}

/** What a day of images costs, as people read it: the counts, then a line for each setting. */
import { countText } from '../../../base/counted.js'
import { dollarsText, moneyText } from '../../../base/money.js'
import { gateTextOf } from '../../../shots/gates.js'
import type { EstimateDocument } from '../../../shots/estimate/estimate-contract.js'
import type { View } from '../../output.js'
import { renderTable } from '../../table.js'
import { fieldLines } from '../../text.js'

const atMost = (count: number, exact: boolean): string => (exact ? '' : 'at most ') + String(count)

const rowsOf = (one: EstimateDocument): [string, string][] => [
  ['would be paid for', atMost(one.would_pay, one.exact)],
  ['repeats, unpaid', String(one.would_repeat)],
  ['described', String(one.described)],
  ['described as repeats', String(one.described_as_earlier)],
  ['failed', String(one.failed)],
  ['need reanalysis', String(one.needs_reanalysis)],
  ['sent before', String(one.sent_before)],
  ['file is gone', String(one.source_missing)],
  ...one.blocked.map(({ reason, count }): [string, string] => [`blocked: ${reason}`, `${count}`]),
]

/** What is told whatever the number; others only where there are some. */
const alwaysTold = 2

const countLines = (one: EstimateDocument): string => fieldLines(
  rowsOf(one).filter(([, count], at) => at < alwaysTold || count !== '0'))

const dollars = (view: Pick<View, 'terminal'>, microusd: number | null): string => {
  if (microusd === null) return '-'
  return view.terminal ? dollarsText(microusd) : String(microusd)
}

type Choice = EstimateDocument['choices'][number]

const settingText = (
  { reuse, settle_seconds: seconds }: Pick<Choice, 'reuse' | 'settle_seconds'>,
): string =>
  `--reuse ${reuse}${seconds === null ? '' : ` --settle-seconds ${seconds}`}`

/** A line for each setting: requests, likely dollars, and the most that they can be. */
export const choicesTable = (
  { choices }: EstimateDocument, view: View,
): Promise<string> => renderTable(
  view, ['setting', 'requests', 'likely', 'at most'],
  choices.map(({ in_force: now, calls, exact, likely_microusd, at_most_microusd, ...one }) => [
    settingText(one) + (now ? ' (as it is)' : ''), atMost(calls, exact),
    dollars(view, likely_microusd), dollars(view, at_most_microusd),
  ]))

/** What the amounts rest on, and what is not in them. */
export const priceNotes = ({ price, not_compared: left }: EstimateDocument): string[] => [
  price.average_microusd === null
    ? 'No price is known: nothing was described under this model yet.'
    : `Likely: ${countText(price.charges, 'newest request')} cost `
      + `${moneyText(price.average_microusd)} on average.`,
  ...(price.bound_microusd === null ? []
    : [`At most: each request may cost its bound, ${moneyText(price.bound_microusd)}.`]),
  ...(left === 0 ? [] : [`${countText(left, 'image')} not compared: counted as requests.`]),
]

const closedLines = ({ closed }: EstimateDocument): string[] => {
  if (closed === null) return []
  const told = gateTextOf(closed)
  return [`Nothing is sent now: ${told?.text ?? closed}`, ...(told === null ? [] : [told.next])]
}

/** All of it; notes go where they disturb no script. */
export const estimateText = async (
  one: EstimateDocument, view: View,
): Promise<{ out: string, notes: string[] }> => ({
  out: `${one.day}, ${one.time_zone}: ${countText(one.images, 'image')} taken in\n`
    + countLines(one)
    + (one.images === 0 ? '' : '\nSuch a day, were none of it described:\n'
      + await choicesTable(one, view)),
  notes: [...priceNotes(one), ...closedLines(one)],
})

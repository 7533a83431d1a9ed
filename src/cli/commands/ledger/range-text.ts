import { countText } from '../../../base/counted.js'
import { moneyText } from '../../../base/money.js'
import type { ChargeRange, Unbounded } from '../../../gateway/usage/range.js'

const why: Readonly<Record<Unbounded, string>> = {
  no_reading_before: 'none was taken before it under the same count',
  no_reading_after: 'none was taken after it yet',
  another_key: 'the key was changed between them',
  went_down: 'the gateway told less than before',
  billed_elsewhere: 'some of it is billed by an upstream itself',
  late_or_shared: 'they disagree with what replies told: it counts late, or others use the key',
  not_confirmed: 'none shows yet that all is counted',
  too_coarse: 'they are too coarse for it',
  more_than_held: 'they tell more than was held for it',
}

const time = (iso: string): string => iso.replace(/\.\d+Z$/, 'Z')

/** What a person reads of a range before an amount is typed. */
export const rangeText = (range: ChargeRange): string => {
  if (!range.bounding) return `Readings of the key's usage do not bound it: ${why[range.reason]}.`
  const { lowMicrousd, highMicrousd, of, before, after, confirmed } = range
  const whose = of === 1 ? 'this charge' : `${countText(of, 'unknown charge')} together`
  return `Readings of the key's usage put ${whose} between ${moneyText(lowMicrousd)} and `
    + `${moneyText(highMicrousd)}\n(read ${time(before)} and ${time(after)}, the same at `
    + `${time(confirmed)}).\nThey show what was counted by then; the bill decides.`
}

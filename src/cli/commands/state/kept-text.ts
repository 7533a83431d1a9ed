import { countText } from '../../../base/counted.js'
import type { Kept } from '../../../fabric/state-contract.js'

/** What was carried over from states that were put aside, in words; empty when nothing was. */
export const keptText = (
  {
    kept_liabilities: kept, unread_operations: unread, unreadable_states: lost,
    kept_artifacts: artifacts, owners_to_enable: owners,
  }: Kept,
): string => [
  kept === 0
    ? '' : `${countText(kept, 'later charge is', 'later charges are')} kept as unknown: `
      + 'sallyport ledger reservations\n',
  lost === 0 ? '' : `${countText(lost, 'former state')} could not be read at all.\n`,
  artifacts === 0
    ? '' : `${countText(artifacts, 'artifact')} without a record kept aside: `
      + 'sallyport state kept\n',
  ...owners.map((name) =>
    `Whether ${name} was still enabled cannot be told: sallyport principal enable ${name}\n`),
  ...unread.map((operation) =>
    'What unread records may have cost is held, up to the whole ceiling. When you have seen the '
    + `bill: sallyport ledger settle ${operation} --amount-microusd N\n`),
  unread.length === 0
    ? '' : 'Idempotency keys that may have been used there count as spent: sallyport state keys\n',
].join('')

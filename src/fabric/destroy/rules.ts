/** What a destruction asks to be acknowledged. Pure. */
import { fail } from '../../base/errors.js'
import { countText } from '../../base/counted.js'
import { moneyText, usdText } from '../../base/money.js'
import type { OpenSum } from './destroy-contract.js'

/** Whether something is open of which a person would lose sight. */
export const isOpen = ({ reserved, contacted, unknown, effects }: OpenSum): boolean =>
  reserved + contacted + unknown + effects > 0

/** What is open, in words, with its sum. */
export const openText = ({ reserved, contacted, unknown, effects, microusd }: OpenSum): string => {
  const charges = [
    ...(reserved === 0 ? [] : [`${reserved} reserved`]),
    ...(contacted === 0 ? [] : [`${contacted} contacted`]),
    ...(unknown === 0 ? [] : [`${unknown} unknown`]),
  ].join(', ')
  return [
    ...(charges === '' ? [] : [`charges (${charges}) that hold ${moneyText(microusd)}`]),
    ...(effects === 0 ? [] : [countText(effects, 'unknown effect on a code host',
      'unknown effects on a code host')]),
  ].join(' and ')
}

/** What somebody acknowledged: the sum, and the effects that were shown or there with it. */
export interface Acknowledged extends Pick<OpenSum, 'microusd'> {
  /** Left out: as many as there are at the first look. */
  readonly effects?: number
}

/**
 * Throws `blocked` `open_not_acknowledged` where something is open, and not this very sum was
 * acknowledged, or other effects than these. Charges may go from one state to another meanwhile.
 */
export const requireOpenAcknowledged = (
  open: OpenSum, acknowledged: Acknowledged | undefined,
): void => {
  const { effects = open.effects } = acknowledged ?? {}
  const isThis = acknowledged?.microusd === open.microusd && effects === open.effects
  if (!isOpen(open) || isThis) return
  throw fail.blocked(
    'open_not_acknowledged', `Something is open here: ${openText(open)}.`, {
      next: 'Settle it first: `sallyport ledger reservations`, `sallyport codehost jobs`. Or '
        + `acknowledge it: --acknowledged-open ${usdText(open.microusd)}.`,
      details: { ...open },
    })
}

/** Throws `rejected` `state_name_wrong` for another name than that of the state. */
export const requireNamed = (name: string, typed: string): void => {
  if (typed === name) return
  throw fail.rejected('state_name_wrong', 'That is not the name of this state.', {
    next: 'Nothing was destroyed. `sallyport state path` tells which directory is meant; its name '
      + 'is that of `sallyport at list`, else the last part of that path.',
  })
}

/** How a paid call ended, told as an error: one table for every capability. */
import { moneyText } from '../base/money.js'
import { SallyportError, type ErrorDetails, type ErrorKind } from '../base/errors.js'
import { settleCommand } from '../governance/ledger/due.js'

/** Ends without a result. */
export type PaidEnd =
  'not_sent' | 'charge_unknown' | 'overrun' | 'held' | 'not_adopted' | 'refused'

const kinds: Readonly<Record<PaidEnd, ErrorKind>> = {
  // What kept it from being sent says more, where that is known.
  not_sent: 'failed',
  charge_unknown: 'blocked',
  overrun: 'blocked',
  held: 'blocked',
  not_adopted: 'unauthorized',
  refused: 'remote',
}

/** How a capability names its calls. */
export interface PaidNames {
  /** `proof`: what texts call it and, unless `codes` says otherwise, what codes begin with. */
  readonly noun: string
  readonly codes?: Readonly<Partial<Record<PaidEnd, string>>>
  readonly texts?: Readonly<Partial<Record<PaidEnd, string>>>
  /** Who can be asked about a charge: `gateway`. */
  readonly biller: string
  /** The command that reviews a charge above its bound. */
  readonly review?: string
  /** The command that accepts a result that a save made wait. */
  readonly accept?: string
}

interface PaidEnding {
  readonly end: PaidEnd
  readonly operationId: string
  /** Snake_case. */
  readonly reason: string
  readonly details: ErrorDetails
  readonly boundMicrousd: number | null
  /** Overrides the kind of the table. */
  readonly kind?: ErrorKind | null
  readonly next?: string
  readonly cause?: unknown
}

const textOf = (noun: string, { end, boundMicrousd }: PaidEnding): string => {
  const bound = boundMicrousd === null ? '' : ` of ${moneyText(boundMicrousd)}`
  const texts: Readonly<Record<PaidEnd, string>> = {
    not_sent: `The ${noun} was not sent; nothing is owed.`,
    charge_unknown:
      `The charge of this ${noun} is not known; its full bound${bound} stays held.`,
    overrun: 'The charge passed the request bound; it stands and needs a review.',
    held: `The ${noun} is paid for and kept; a save was under way, so it waits to be accepted.`,
    not_adopted: `The authority ended meanwhile; the charge stands, no ${noun} was kept.`,
    refused: `The reply was not what a ${noun} needs; the charge stands.`,
  }
  return texts[end]
}

const nextOf = (names: PaidNames, { end, operationId }: PaidEnding): string | undefined => {
  if (end === 'charge_unknown') {
    return `Look it up with the ${names.biller}, then run \`${settleCommand(operationId)}\`.`
  }
  if (end === 'held' && names.accept !== undefined) return `Run \`${names.accept}\`.`
  const review = names.review ?? `sallyport ledger review ${operationId}`
  return end === 'overrun' ? `Run \`${review}\`.` : undefined
}

/** The error that tells an end; `next` says what a person does about money that waits. */
export const endingError = (names: PaidNames, ending: PaidEnding): SallyportError => {
  const { end, reason, details, cause } = ending
  const next = ending.next ?? nextOf(names, ending)
  return new SallyportError({
    kind: ending.kind ?? kinds[end],
    code: names.codes?.[end] ?? `${names.noun}_${end}`,
    message: names.texts?.[end] ?? textOf(names.noun, ending),
    reason, details, cause,
    ...(next === undefined ? {} : { next }),
  })
}

/**
 * Charges above their bounds that wait for a review. Each counts whole in what it uses up, so that
 * one of them may leave no room: whoever asks for the way on is told of it before anything else.
 */
import { ceilingText, reviewFirst } from '../governance/ledger/due.js'
import { ownOverruns } from '../governance/ledger/own.js'
import type { View } from '../state/types.js'
import { disputedCharges } from './budget.js'
import type { ShotsContext } from './context.js'
import { routeStatusOf, usedUp } from './gates.js'

/** Reasons for which nothing is bought because there is no room for what it may cost. */
type RoomReason = 'budget_exhausted' | 'ceiling_exceeded'

/** Ids of operations whose charges are disputed, by what they use up. */
export type Disputed = Readonly<Record<RoomReason, readonly string[]>>

/** Nothing is disputed. */
export const undisputed: Disputed = { budget_exhausted: [], ceiling_exceeded: [] }

/** Whether a reason says that there is no room. */
export const isRoomReason = (reason: string | null | undefined): reason is RoomReason =>
  reason === 'budget_exhausted' || reason === 'ceiling_exceeded'

/** What is disputed now; under the ceiling what whoever pays for images may review. */
export const disputedOf = (ctx: ShotsContext, view: View): Disputed => {
  const payer = routeStatusOf(ctx, view).route?.consent.principal
  return {
    budget_exhausted: disputedCharges(view, ctx.gov.clock.wallMs()),
    ceiling_exceeded: payer === undefined ? [] : ownOverruns(view, payer),
  }
}

/** What a person does where there is no room, the review of what is disputed first. */
export const roomNext = (reason: RoomReason, disputed: readonly string[]): string =>
  reviewFirst(disputed) + (reason === 'budget_exhausted' ? usedUp.next : ceilingText)

/**
 * What a receipt keeps of it for the reason that it tells: the first few, since what is told of
 * them is one command or a list. Nothing where nothing is disputed.
 */
export const disputedIn = (
  ctx: ShotsContext, reason: string | null | undefined,
): { readonly disputed?: string[] } => {
  const disputed = isRoomReason(reason)
    ? disputedOf(ctx, ctx.gov.store.read())[reason].slice(0, 2) : []
  return disputed.length === 0 ? {} : { disputed }
}

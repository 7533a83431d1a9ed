/** What a paid request rests on: the one ledger, and the hold of this very operation. */
import type { View } from '../../state/types.js'
import { requireAccount } from '../ledger/account.js'
import { ledgerFacts, type LedgerFacts } from '../ledger/facts.js'
import { requireBound } from '../ledger/post.js'
import { consumedOf, findReservation } from '../ledger/find-reservation.js'
import type { Runtime } from '../rows.js'
import { ofRequest, orUndefined, untilContact, within, type Fact } from './fact.js'

interface AccountCase {
  readonly account: LedgerFacts
  /** The ceiling that the route's set-up was saved with, micro-USD. */
  readonly ceilingMicrousd: number
  /** What one request may cost, micro-USD; null where no one request is meant. */
  readonly boundMicrousd: number | null
}

/** There is one ledger with a positive ceiling. */
const ledgerReadyFacts = [
  {
    name: 'ledger_not_unique', kind: 'blocked', phases: untilContact,
    holds: ({ account }) => account.ok || account.problem !== 'ledger_not_unique',
  },
  {
    name: 'ceiling_not_positive', kind: 'blocked', phases: untilContact,
    holds: ({ account }) => (account.ok
      ? account.ceilingMicrousd >= 1 : account.problem !== 'ceiling_not_positive'),
  },
] as const satisfies readonly Fact<Pick<AccountCase, 'account'>>[]

/** That ledger is the one of the set-up, and one request fits under its ceiling. */
export const accountFacts = [
  ...ledgerReadyFacts,
  {
    name: 'ceiling_mismatch', kind: 'blocked', phases: untilContact,
    holds: ({ account, ceilingMicrousd }) =>
      !account.ok || account.ceilingMicrousd === ceilingMicrousd,
  },
  {
    name: 'request_bound_above_ceiling', kind: 'blocked', phases: untilContact,
    holds: ({ account, boundMicrousd }) =>
      !account.ok || boundMicrousd === null || boundMicrousd <= account.ceilingMicrousd,
  },
] as const satisfies readonly Fact<AccountCase>[]

/** Status and sentence of each; `saved`: what the route calls its set-up. */
export const accountWords = (saved: string) => ({
  ledger_not_unique: {
    status: 'blocked', text: 'There is not exactly one ledger. See `sallyport state check`.',
  },
  ceiling_not_positive: {
    status: 'blocked',
    text: 'The deployment ceiling is not positive. See `sallyport ledger show`.',
  },
  ceiling_mismatch: {
    status: 'blocked',
    text: 'The saved ceiling is not that of the deployment ledger.'
      + ` Save the ${saved} with that one.`,
  },
  request_bound_above_ceiling: {
    status: 'blocked',
    text: 'The request bound is above the ceiling. Save a lower bound or raise the ceiling.',
  },
} as const)

/** Whose money one operation holds, and how much. */
export interface HoldCase {
  readonly view: View
  readonly operationId: string
  readonly runtime: Runtime
  readonly profile: string
  readonly principal: string
  /** Null for an operation without a task. */
  readonly taskId: string | null
  readonly boundMicrousd: number
}

const heldOf = ({ view, operationId }: HoldCase) => findReservation(view, operationId)

/** The hold is there, is this operation's, and nothing was given back of it. */
export const holdFacts = [
  ...within(({ view }: HoldCase) => ({ account: ledgerFacts(view) }), ledgerReadyFacts),
  {
    name: 'ceiling_exceeded', kind: 'budget', phases: ofRequest,
    holds: (one) => {
      const account = orUndefined(() => requireAccount(one.view))
      return account === undefined || heldOf(one) !== undefined
        || consumedOf(account) + one.boundMicrousd <= account.ceiling_microusd
    },
  },
  {
    name: 'reservation_missing', kind: 'blocked', phases: ['contact'],
    holds: (one) => heldOf(one) !== undefined,
  },
  {
    name: 'reservation_binding_mismatch', kind: 'blocked', phases: ofRequest,
    holds: (one) => heldOf(one) === undefined
      || orUndefined(() => requireBound(one.view, one)) !== undefined,
  },
  {
    name: 'reservation_mismatch', kind: 'blocked', phases: ofRequest,
    holds: (one) => {
      const held = heldOf(one)
      return held === undefined || (held.principal === one.principal
        && held.task_id === one.taskId && held.bound_microusd === one.boundMicrousd)
    },
  },
  {
    name: 'reservation_not_held', kind: 'blocked', phases: ofRequest,
    holds: (one, phase) => {
      const held = heldOf(one)
      return held === undefined || held.state === 'reserved'
        || (phase === 'contact' && held.state === 'contacted')
    },
  },
] as const satisfies readonly Fact<HoldCase>[]

/** Why the one ledger does not carry a route; every route says it in the same words. */

/** Reasons of a route's status, by name. `saved`: what the route calls its set-up. */
export const ledgerReasons = (saved: string) => ({
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

/** What the set-up of the text capability had narrowed in a state that was replaced. */
import type { Carrier } from '../governance/narrowings.js'
import { collections } from '../governance/rows.js'
import { canonicalJson } from '../base/canonical.js'
import { alphaSetupCollection, alphaSetupId, type AlphaTextSetup } from './setup.js'

const narrower = (mine: AlphaTextSetup, theirs: AlphaTextSetup): AlphaTextSetup => ({
  ...mine,
  enabled: mine.enabled && theirs.enabled,
  max_output_tokens: Math.min(mine.max_output_tokens, theirs.max_output_tokens),
  timeout_seconds: Math.min(mine.timeout_seconds, theirs.timeout_seconds),
  request_cost_bound_microusd:
    Math.min(mine.request_cost_bound_microusd, theirs.request_cost_bound_microusd),
})

/** A route that was switched off stays so; limits are the lower ones, the ceiling the ledger's. */
export const carryAlphaGates: Carrier = (tx, _now, former) => {
  const mine = tx.get(alphaSetupCollection, alphaSetupId)
  const theirs = former.get(alphaSetupCollection, alphaSetupId)
  if (mine === undefined) return 0
  const [account] = tx.all(collections.ledgerAccounts)
  const limited = theirs === undefined ? mine : narrower(mine, theirs)
  const ceiling = account?.doc.ceiling_microusd ?? mine.spend_ceiling_microusd
  const after = {
    ...limited, spend_ceiling_microusd: Math.min(mine.spend_ceiling_microusd, ceiling),
  }
  if (canonicalJson(after) === canonicalJson(mine)) return 0
  tx.put(alphaSetupCollection, alphaSetupId, after)
  return 1
}

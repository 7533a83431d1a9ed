/** What the set-up of the text capability had narrowed in a state that was replaced. */
import { carrySetup } from '../governance/carrier.js'
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
export const carryAlphaGates = carrySetup(alphaSetupCollection, alphaSetupId, narrower)

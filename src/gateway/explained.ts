/** The ids of the model route: proofs of its slots, and the set-up that calls rest on. */
import { msFromIso } from '../base/clock.js'
import {
  eventsOf, idsOf, smallIds, type ExplainedKind, type ExplainedKinds,
} from '../governance/explained.js'
import type { View } from '../state/types.js'
import { gatewayLimits } from './constants.js'
import { proofCollection, type GatewayProof } from './proof.js'
import { gatewayCollection, gatewayRouteId } from './setup.js'

/** The newest of its slot, by the number of the attempt. */
const isNewest = (view: View, proof: GatewayProof): boolean =>
  view.all(proofCollection).every(({ doc }) =>
    doc.slot !== proof.slot || (doc.attempt ?? 0) <= (proof.attempt ?? 0))

const proofKind: ExplainedKind = {
  kind: 'proof of a slot', short: async () => smallIds('prf', proofCollection, () => true),
  find: ({ view, gov }, id) => {
    const proof = view.get(proofCollection, id)
    if (proof === undefined) return undefined
    const ageMs = gov.clock.wallMs() - msFromIso(proof.made_at)
    const state = !isNewest(view, proof) ? 'replaced'
      : ageMs > gatewayLimits.proofFreshMsMax ? 'stale' : 'made'
    return {
      state,
      text: {
        replaced: 'A later proof of its slot took its place.',
        stale: 'It is too old: nothing is sent on it.',
        made: 'Its slot answered once, with every control sent; `sallyport gateway show` says '
          + 'whether it still counts.',
      }[state],
      facts: {
        slot: proof.slot, cost_microusd: proof.cost_microusd, reply_model: proof.reply_model,
        reply_provider: proof.reply_provider,
      },
      related: idsOf(proof.operation_id, proof.receipt.grant_id),
      events: eventsOf([proof.made_at, 'made']),
      next: ['sallyport gateway show', `sallyport gateway prove ${proof.slot}`],
    }
  },
}

const grantKind: ExplainedKind = {
  kind: 'set-up of the gateway',
  find: ({ view }, id) => {
    const isCurrent = view.get(gatewayCollection, gatewayRouteId)?.grant_id === id
    const proof = view.all(proofCollection).find(({ doc }) => doc.receipt.grant_id === id)?.doc
    if (!isCurrent && proof === undefined) return undefined
    return {
      state: isCurrent ? 'current' : 'replaced',
      text: isCurrent ? 'It is the set-up that calls are claimed under now.'
        : 'Another set-up was saved since: no call rests on it any more.',
      facts: {}, related: idsOf(proof?.proof_id), events: [], next: ['sallyport gateway show'],
    }
  },
}

/** Their kinds. */
export const gatewayExplained: ExplainedKinds = { prf: proofKind, grt: grantKind }

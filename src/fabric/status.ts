/** One look at everything, without a session, a lock, a socket or a changed byte. */
import { alphaFacts, alphaReasonOf, alphaReasons } from '../alpha/readiness.js'
import { projectGateway } from '../gateway/projection.js'
import { gatewayFacts } from '../gateway/readiness.js'
import type { Gov } from '../governance/context.js'
import { balances, openReservations } from '../governance/ledger/read.js'
import { policyStanding } from '../governance/policy/standing.js'
import { deploymentProfile } from '../governance/profile.js'
import { collections } from '../governance/rows.js'
import type { View } from '../state/types.js'
import { routePlaces } from './places.js'
import type { RouteStatus, StatusDocument } from './status-contract.js'

const alphaStatus = (gov: Gov, view: View): RouteStatus => {
  const facts = alphaFacts(gov, view, deploymentProfile(gov.store).provider)
  if (facts.setup === null) return { status: 'disabled', reason_code: 'not_set_up' }
  const reason = alphaReasonOf(facts, facts.setup)
  if (reason === null) return { status: 'configured', reason_code: null }
  return { status: alphaReasons[reason].status, reason_code: reason }
}

const gatewayStatus = (gov: Gov, view: View): RouteStatus => {
  const { gateway } = projectGateway(gatewayFacts(gov, view, routePlaces(gov).gateway))
  if (gateway === null) return { status: 'disabled', reason_code: 'not_set_up' }
  return { status: gateway.status, reason_code: gateway.reason_code }
}

const ledgerOf = (view: View): StatusDocument['ledger'] => {
  const { ceiling_microusd, settled_microusd, held_microusd, unknown_microusd, available_microusd }
    = balances(view)
  return { ceiling_microusd, settled_microusd, held_microusd, unknown_microusd, available_microusd }
}

const openTasks = (view: View): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { doc } of view.all(collections.openTasks)) {
    counts[doc.state] = (counts[doc.state] ?? 0) + 1
  }
  return counts
}

/** Reads the status. */
export const readStatus = (gov: Gov): StatusDocument => {
  const view = gov.store.read()
  const { head, usable, block } = policyStanding(gov.store, view)
  const open = openReservations(view)
  const hasLedger = view.all(collections.ledgerAccounts).length === 1
  return {
    state_dir: gov.store.dir,
    store_id: gov.store.storeId,
    profile: deploymentProfile(gov.store).name,
    policy: { revision: head.revision, state: head.state, usable, block },
    alpha: alphaStatus(gov, view),
    gateway: gatewayStatus(gov, view),
    ledger: hasLedger ? ledgerOf(view) : null,
    attention: {
      unknown_charges: open.filter(({ state }) => state === 'unknown').length,
      overrun_reviews: open.filter(({ overrun }) => overrun === 'review_required').length,
    },
    tasks: openTasks(view),
  }
}

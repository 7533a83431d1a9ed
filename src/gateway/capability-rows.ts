/** Rows of the model route, for check, repair and restore. */
import type { CapabilityRows } from '../governance/capability.js'
import { carrySetup } from '../governance/carrier.js'
import { everybodys, nobodys, own } from '../governance/exported.js'
import { each } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import { claimCollection, rootsOfClaims } from './call/claims.js'
import { openCallCollection } from './call/open-calls.js'
import { pauseCollection } from './call/pause.js'
import { spendCollection } from './call/spend.js'
import { attemptCollection, proofCollection } from './proof.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute, type SlotSetup } from './setup.js'
import { forgetSince, readingCollection, sinceCollection } from './usage/usage-rows.js'

// What of the model route outlives an old copy that is put back: calls that were claimed since stay
// claimed, attempts keep counting on, and the day's spend is never less than it was. So nothing
// that may have been paid for is asked again by a restored state (S-168).

const carryClaims = (tx: Tx, former: View): void => {
  for (const { id, doc } of each(former, claimCollection)) {
    const known = tx.get(claimCollection, id)
    if (known === undefined || known.ended === null) tx.put(claimCollection, id, doc)
  }
}

const carryAttempts = (tx: Tx, former: View): void => {
  for (const { id, doc } of each(former, attemptCollection)) {
    const known = tx.get(attemptCollection, id)
    if (known === undefined || known.number < doc.number) tx.put(attemptCollection, id, doc)
  }
}

const carrySpend = (tx: Tx, former: View): void => {
  for (const { id, doc } of each(former, spendCollection)) {
    const known = tx.get(spendCollection, id)
    tx.put(spendCollection, id, known === undefined ? doc : {
      ...doc,
      requests: Math.max(doc.requests, known.requests),
      held_microusd: Math.max(doc.held_microusd, known.held_microusd),
      settled_microusd: Math.max(doc.settled_microusd, known.settled_microusd),
    })
  }
}

/** Keeps claims, attempts and spend of a state that was replaced, in the record that settles it. */
const carryGateway = (tx: Tx, former: View): void => {
  carryClaims(tx, former)
  carryAttempts(tx, former)
  carrySpend(tx, former)
  // What was called since the copy was made is not told in it.
  forgetSince(tx)
}

// What the set-up of the model route had narrowed in a state that was replaced.

/** Upstreams that both allow; a slot that none is left of is not set. */
const narrowerSlot = (mine: SlotSetup | null, theirs: SlotSetup | null): SlotSetup | null => {
  if (mine === null || theirs === null) return null
  const upstreams = mine.upstream_allow.filter((one) => theirs.upstream_allow.includes(one))
  if (upstreams.length === 0) return null
  return {
    ...mine,
    upstream_allow: upstreams,
    request_cost_bound_microusd:
      Math.min(mine.request_cost_bound_microusd, theirs.request_cost_bound_microusd),
    timeout_seconds: Math.min(mine.timeout_seconds, theirs.timeout_seconds),
  }
}

const narrower = (mine: GatewayRoute, theirs: GatewayRoute): GatewayRoute => ({
  ...mine,
  enabled: mine.enabled && theirs.enabled,
  slots: {
    chat: narrowerSlot(mine.slots.chat, theirs.slots.chat),
    report: narrowerSlot(mine.slots.report, theirs.slots.report),
    screenshot: narrowerSlot(mine.slots.screenshot, theirs.slots.screenshot),
  },
})

/** Slots and upstreams that were taken away stay so; limits are the lower ones. */
const carryGatewayGates = carrySetup(gatewayCollection, gatewayRouteId, narrower)

/** Its collections; they contradict nothing that a check could compare them with. */
export const gatewayRows: CapabilityRows = {
  collections: [
    gatewayCollection, proofCollection, attemptCollection, claimCollection,
    spendCollection, openCallCollection, pauseCollection, readingCollection, sinceCollection,
  ],
  rules: [],
  exported: [
    everybodys(gatewayCollection), everybodys(proofCollection), nobodys(attemptCollection),
    own(claimCollection, (doc, { owner }) => doc.principal === owner),
    everybodys(spendCollection), nobodys(openCallCollection), everybodys(pauseCollection),
    everybodys(readingCollection), nobodys(sinceCollection),
  ],
  rootsNamed: rootsOfClaims,
  carry: carryGateway,
  narrowed: carryGatewayGates,
}

/**
 * What of the model route outlives an old copy that is put back: calls that were claimed since stay
 * claimed, attempts keep counting on, and the day's spend is never less than it was. So nothing
 * that may have been paid for is asked again by a restored state (S-168).
 */
import { each } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import { claimCollection } from './call/claims.js'
import { spendCollection } from './call/spend.js'
import { attemptCollection } from './proof.js'

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
export const carryGateway = (tx: Tx, former: View): void => {
  carryClaims(tx, former)
  carryAttempts(tx, former)
  carrySpend(tx, former)
}

/**
 * Calls that are under way, by operation: so that what a dead process held of a day's budget is
 * found without a look at every claim there ever was.
 */
import * as v from 'valibot'
import type { Gov } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'
import { gatewayPurposes } from '../constants.js'
import { claimCollection, claimsByOperation, claimStatus } from './claims.js'
import { addSpend, hasSpend } from './spend.js'

const shape = v.strictObject({
  purpose: v.picklist(gatewayPurposes),
  claimed_at: v.pipe(v.string(), v.isoTimestamp()),
  bound_microusd: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
})
/** What a call under way holds of the sums of its hour. */
type OpenCall = v.InferOutput<typeof shape>

/** Open calls by operation id; written with the claim, removed with its end. */
export const openCallCollection: CollectionSpec<OpenCall> = {
  name: 'gateway_open_calls', schema: shape, partition: 'one',
}

const deadCalls = (gov: Gov, view: View): readonly { id: string; doc: OpenCall }[] =>
  view.all(openCallCollection).filter(({ id }) => !gov.store.holds.isHeld('operation', id))

/** What was provably not sent is no request of its hour; anything else stays counted in full. */
const settle = ({ store }: Gov, tx: Tx, operationId: string, call: OpenCall): void => {
  tx.remove(openCallCollection, operationId)
  const [claim] = rowsUnder(tx, claimCollection, claimsByOperation, { under: [operationId] })
  const key = { purpose: call.purpose, at: call.claimed_at }
  if (claimStatus(store, tx, claim?.doc) !== 'interrupted' || !hasSpend(tx, key)) return
  addSpend(tx, key, { requests: -1, heldMicrousd: -call.bound_microusd })
}

/**
 * Gives back what dead processes held of the sums. Runs after recovery, which has resolved their
 * money; takes the lock only when a look without it found some. Gives how many there were.
 */
export const settleDeadCalls = async (gov: Gov): Promise<number> => {
  if (deadCalls(gov, gov.store.read()).length === 0) return 0
  return gov.store.transact('gateway recovery', (tx) => {
    const dead = deadCalls(gov, tx)
    for (const { id, doc } of dead) settle(gov, tx, id, doc)
    return dead.length
  })
}

/** Notes a call that begins. */
export const openCall = (tx: Tx, operationId: string, call: OpenCall): void =>
  tx.put(openCallCollection, operationId, call)

/** Notes that it has ended; false where recovery took its process for dead and did so before. */
export const closeCall = (tx: Tx, operationId: string): boolean => {
  if (tx.get(openCallCollection, operationId) === undefined) return false
  tx.remove(openCallCollection, operationId)
  return true
}

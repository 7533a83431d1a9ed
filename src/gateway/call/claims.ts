/**
 * Durable claims: every paid call through the route is claimed under the digest of its input before
 * anything else, and the claim stays. Whatever became of the first call, a second one for the same
 * digest is refused here; nothing that may have been sent is ever sent again by itself.
 */
import * as v from 'valibot'
import { sha256 } from '../../base/schema.js'
import { fail } from '../../base/errors.js'
import { findReservation } from '../../governance/ledger/find-reservation.js'
import { noteNamed } from '../../governance/session/named.js'
import type { CollectionSpec, Index, Store, Tx, View } from '../../state/types.js'
import { gatewayPurposes, slotNames } from '../constants.js'
import { callOutcomes, gatewayReceiptShape, type CallOutcome } from '../receipt.js'

const time = v.pipe(v.string(), v.isoTimestamp())

const claimShape = v.strictObject({
  /** Digest of everything that decides what is sent; also the document's id. */
  input_digest: sha256,
  slot: v.picklist(slotNames),
  purpose: v.picklist(gatewayPurposes),
  operation_id: v.string(),
  grant_id: v.string(),
  principal: v.string(),
  /** Null for a call that rests on its purpose consent alone. */
  root: v.nullable(v.string()),
  claimed_at: time,
  contacted_at: v.nullable(time),
  /** Null while the call runs, and for ever when its process died. */
  ended: v.nullable(v.strictObject({
    at: time, outcome: v.picklist(callOutcomes), reason: v.nullable(v.string()),
    receipt: gatewayReceiptShape,
  })),
})
export type CallClaim = v.InferOutput<typeof claimShape>

export const claimsByOperation: Index<CallClaim> = {
  name: 'operation', parts: 1, keysOf: ({ operation_id: operation }) => [[operation]],
}

/** Claims by input digest. */
export const claimCollection: CollectionSpec<CallClaim> = {
  name: 'gateway_calls', schema: claimShape, partition: 'hash256', indexes: [claimsByOperation],
}

const claimsInPage = 256

/** Sessions that claims name, read a page at a time. */
export function* rootsOfClaims(view: View): Generator<string, void, undefined> {
  for (let after = ''; ;) {
    const page = view.range(claimCollection, { after, limit: claimsInPage })
    for (const { doc } of page) if (doc.root !== null) yield doc.root
    if (page.length < claimsInPage) return
    after = page.at(-1)?.id ?? after
  }
}

/** How a claimed call stands; `running` while its process lives, `interrupted` is never sent. */
export type ClaimStatus = CallOutcome | 'running' | 'interrupted'

/**
 * How a call stands. One whose process died is judged by its money, which recovery has resolved or
 * will: only a released hold, or none, says that nothing was sent.
 */
export const claimStatus = (
  store: Pick<Store, 'holds'>, view: View, claim: CallClaim,
): ClaimStatus => {
  if (claim.ended !== null) return claim.ended.outcome
  if (store.holds.isHeld('operation', claim.operation_id)) return 'running'
  const state = findReservation(view, claim.operation_id)?.state
  if (state === undefined || state === 'released' || state === 'reserved') return 'interrupted'
  return 'charge_unknown'
}

/** Claims a digest. Throws `conflict` `call_repeated` when it was ever claimed before. */
export const putClaim = (tx: Tx, claim: Omit<CallClaim, 'contacted_at' | 'ended'>): CallClaim => {
  const before = tx.get(claimCollection, claim.input_digest)
  if (before !== undefined) {
    throw fail.conflict(
      'call_repeated', 'This very request was claimed before; it is never sent twice.',
      { details: { operation_id: before.operation_id } },
    )
  }
  const fresh: CallClaim = { ...claim, contacted_at: null, ended: null }
  tx.put(claimCollection, fresh.input_digest, fresh)
  if (fresh.root !== null) noteNamed(tx, fresh.root)
  return fresh
}

/** The claim of a running call. Throws `conflict` `call_ended` when it has ended already. */
export const requireOpenClaim = (
  view: View, inputDigest: string, operationId: string,
): CallClaim => {
  const claim = view.get(claimCollection, inputDigest)
  if (claim?.operation_id === operationId && claim.ended === null) return claim
  throw fail.conflict('call_ended', 'This call has ended or belongs to another process.')
}

/** The analysis of an image, for a receipt that others can check. */
import { fail } from '../base/errors.js'
import { claimCollection, claimsByOperation } from '../gateway/call/claims.js'
import type { FindReceipted } from '../governance/receipted.js'
import { rowsUnder } from '../state/indexes.js'
import type { PayloadRef } from './observations/observation-rows.js'
import { requireObservation } from './observations/show.js'

const noReceipt = (id: string) =>
  fail.conflict('no_receipt', 'This observation has no analysis that was paid for.', {
    next: `See \`sallyport shots show ${id}\`.`, details: { observation_id: id },
  })

const ofOther = (
  id: string, { observation_id: other }: NonNullable<PayloadRef['payload_of']>,
) => fail.conflict('no_receipt',
  'Nothing was paid for this observation: it repeats one that was described.', {
    reason: 'analysis_reused', details: { observation_id: id, payload_of: other },
    next: `The receipt of that one: \`sallyport receipt export ${other}\`.`,
  })

/**
 * The receipt of the call that the present analysis of an image came from, without its digests.
 * Throws `not_found` `observation_not_found`, `conflict` `no_receipt`.
 */
export const receiptedAnalysis: FindReceipted = (_gov, view, _session, id) => {
  const row = requireObservation(view, id)
  const { observation_id: observation, payload } = row
  if (payload === null) throw noReceipt(observation)
  // The call was about another image: a statement that names this one would be untrue.
  if (payload.payload_of !== undefined) throw ofOther(observation, payload.payload_of)
  const [claim] = rowsUnder(view, claimCollection, claimsByOperation, {
    under: [payload.operation_id],
  })
  const receipt = claim?.doc.ended?.receipt
  if (receipt === undefined) throw noReceipt(observation)
  const { input_digest: request, policy, ...facts } = receipt
  return {
    what: 'analysis',
    content: [
      { name: 'image', sha256: row.sha256 },
      { name: 'request', sha256: request },
      { name: 'analysis', sha256: payload.sha256 }, { name: 'policy', sha256: policy.sha256 },
    ],
    facts: { observation_id: observation, ...facts, policy_revision: policy.revision },
  }
}

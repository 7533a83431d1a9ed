/**
 * Which operation a billing UUID belongs to. It is made of an id that the provider chose: given
 * twice, one charge would settle two questions and hide what the second one cost.
 */
import * as v from 'valibot'
import { fail } from '../base/errors.js'
import type { CollectionSpec, Tx } from '../state/types.js'

const shape = v.strictObject({ operation_id: v.string() })

/** Operations by billing UUID, written together with the first attempt to read a charge back. */
export const billingUuidCollection: CollectionSpec<v.InferOutput<typeof shape>> = {
  name: 'alpha_billing_uuids', schema: shape, partition: 'hash256',
}

/** Throws `conflict`/`billing_uuid_reused` for one that another operation has. */
export const bindBillingUuid = (tx: Tx, uuid: string, operationId: string): void => {
  const bound = tx.get(billingUuidCollection, uuid)
  if (bound === undefined) tx.put(billingUuidCollection, uuid, { operation_id: operationId })
  else if (bound.operation_id !== operationId) {
    throw fail.conflict(
      'billing_uuid_reused', 'The provider gave this answer the id of an earlier one.',
      { next: 'What it cost cannot be told: settle it by hand.' },
    )
  }
}

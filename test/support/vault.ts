/** A key in the vault, without the set-up verb that a route has for it. */
import { discardStored } from '../../src/governance/artifacts.js'
import { nowIso, type Gov } from '../../src/governance/context.js'
import {
  sealCredential, stageSealed, type SealedCredential,
} from '../../src/governance/vault.js'

/** Seals and stages a secret in a transaction of its own, in the order that a save has. */
export const stageCredential = async (
  gov: Gov, request: { readonly ref: string; readonly secret: Uint8Array },
): Promise<SealedCredential> => {
  const sealed = sealCredential(gov.store, request)
  const displaced = await gov.store.transact('vault', (tx) => stageSealed(tx, nowIso(gov), sealed))
  discardStored(gov.store, displaced)
  return sealed
}

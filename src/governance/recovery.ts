/**
 * What a dead save left of the policy: a half-done save is rolled back, a witness that is one line
 * behind is completed. A process is dead when the kernel lets us lock the guard file that it held.
 * What dead processes left of operations is resolved above, in the same record.
 */
import { rowsUnder } from '../state/indexes.js'
import type { Tx, View } from '../state/types.js'
import type { Gov } from './context.js'
import { endConsents } from './policy/consents.js'
import { policyAt, policyHead } from './policy/head.js'
import { publishRevision } from './policy/publish.js'
import { rollBackSave } from './policy/save.js'
import { lastWitnessed, witnessRevision, witnessStatus } from './policy/witness.js'
import {
  collections, intentsOpen, rootsUnended, type PolicyRevision, type SaveIntent,
} from './rows.js'

/** What is left of saves and publications. */
export interface PolicyLeftovers {
  readonly intents: readonly SaveIntent[]
  /** The witness log lacks the line of the head. */
  readonly witnessBehind: boolean
}

const openSaves = (view: View): readonly SaveIntent[] =>
  rowsUnder(view, collections.saveIntents, intentsOpen).map(({ doc }) => doc)

/** Looks for leftovers; reads only. */
export const policyLeftovers = (gov: Gov, view: View): PolicyLeftovers => ({
  intents: openSaves(view).filter((doc) => !gov.store.holds.isHeld('save', doc.intent_id)),
  witnessBehind:
    witnessStatus(view, gov.store.witness, (n) => policyAt(view, n)) === 'behind_by_one',
})

/** Resolves them, in the caller's record. */
export const resolvePolicyLeftovers = (
  gov: Gov, tx: Tx, now: string, { intents, witnessBehind }: PolicyLeftovers,
): void => {
  for (const intent of intents) rollBackSave(gov, tx, now, intent)
  if (!witnessBehind) return
  const head = policyHead(tx)
  tx.afterSync(() => witnessRevision(gov.store.witness, head))
}

/**
 * Rolls back every save that has not ended, whoever holds its guard: behind `revokeRestored` none
 * can come to its end any more, and the ceiling that it brings back must not come later than what
 * holds the whole of it.
 */
export const endOpenSaves = (gov: Gov, tx: Tx, now: string): void => {
  for (const intent of openSaves(tx)) rollBackSave(gov, tx, now, intent)
}

/**
 * Ends every authority of a store that was put back from a backup: roots, consents, and a revoked
 * revision above anchor and witness, so that it contacts nobody until an operator grants anew.
 */
export const revokeRestored = (gov: Gov, tx: Tx, now: string): PolicyRevision => {
  for (const { id, doc } of rowsUnder(tx, collections.roots, rootsUnended)) {
    tx.put(collections.roots, id, { ...doc, ended: { at: now, reason: 'restored' } })
  }
  endConsents(tx, 'granted', 'revoked')
  return publishRevision(tx, gov.store, now, {
    state: 'revoked', reason: 'restore', principal: null, carriesFrom: null, global: true,
    above: Math.max(gov.store.anchor().policyRevision, lastWitnessed(gov.store.witness)),
  })
}

import type { Store, Tx } from '../../state/types.js'
import { collections, type PolicyRevision } from '../rows.js'
import { boundConsents } from './consents.js'
import { policyAt, policyHead, revisionId } from './head.js'
import { witnessRevision, witnessStatus } from './witness.js'

/** What a publication says; the rest follows from the head before it. */
interface Publication {
  readonly state: 'active' | 'revoked'
  readonly reason:
    | 'init' | 'save_begin' | 'save' | 'operator_revoke' | 'save_interrupted' | 'restore'
  readonly principal: string | null
  /** See `carries_from` of the row. Ignored for an active revision, which carries from itself. */
  readonly carriesFrom: number | null
  /** A global revocation raises the epoch and moves the fence to the new revision. */
  readonly global?: boolean
  /** Publish above this revision (a restored store must pass its anchor). */
  readonly above?: number
}

const write = (tx: Tx, store: Store, policy: PolicyRevision): PolicyRevision => {
  tx.put(collections.policy, revisionId(policy.revision), policy)
  tx.put(collections.policyHead, 'the', { revision: policy.revision })
  tx.mark({ policyRevision: policy.revision })
  tx.afterSync(() => witnessRevision(store.witness, policy))
  return policy
}

/**
 * Writes the line of a durable head that a crash left without one: before another revision goes on
 * top, because two missing lines could never be told from a witness that was put back, and before
 * a record judges a paid result. For transactions alone: under the lock nobody else is about to
 * write it. The transaction may still fail; the line is true either way.
 */
export const completeWitness = (store: Store): void => {
  const durable = store.read()
  const status = witnessStatus(durable, store.witness, (revision) => policyAt(durable, revision))
  if (status === 'behind_by_one') witnessRevision(store.witness, policyHead(durable))
}

/** The revision that a publication on top of the present head will have. */
export const nextRevisionOf = (tx: Tx, above = 0): number =>
  Math.max(policyHead(tx).revision, above) + 1

/**
 * Publishes the next revision in this transaction: row and head in the log, then the witness line,
 * then the anchor, all before `transact` answers.
 */
export const publishRevision = (
  tx: Tx, store: Store, now: string, publication: Publication,
): PolicyRevision => {
  completeWitness(store)
  const head = policyHead(tx)
  const revision = nextRevisionOf(tx, publication.above)
  return write(tx, store, {
    revision,
    state: publication.state,
    reason: publication.reason,
    epoch: head.epoch + (publication.global ? 1 : 0),
    fence: publication.global ? revision : head.fence,
    carries_from: publication.state === 'active' ? revision : publication.carriesFrom,
    published_at: now,
    principal: publication.principal,
    consents: boundConsents(tx, revision),
  })
}

/** Revision 1 of a new store: active, with no consent, so that nothing may be contacted. */
export const publishInitialPolicy = (
  tx: Tx, store: Store, now: string, principal: string | null,
): PolicyRevision =>
  write(tx, store, {
    revision: 1, state: 'active', reason: 'init', epoch: 1, fence: 0, carries_from: 1,
    published_at: now, principal, consents: [],
  })

/**
 * Which stored documents an owner takes along (`state export`), and how they read then. Each layer
 * says it for its own collections; one of which nothing is said is never given out. What opens
 * something is left out: sealed secrets and the keyed digests of tokens, codes and passphrases.
 */
import { each } from '../state/each.js'
import type { CollectionSpec, View } from '../state/types.js'
import { findTask } from './board/place.js'
import { findReservation } from './ledger/find-reservation.js'
import { collections, type Task, type TrustDecision } from './rows.js'

/** Who takes documents along, and what of the state tells whose they are. */
export interface Taker {
  readonly view: View
  /** Principal id. */
  readonly owner: string
  /** Operations that no row of money or trust tells the owner of, as capabilities tell them. */
  readonly operations: ReadonlySet<string>
}

interface ExportedDocument {
  readonly collection: string
  readonly id: string
  readonly document: object
}

/** What is given out of one collection. */
export interface Exported {
  readonly collection: string
  /** In the order of their ids. */
  documents(taker: Taker): Iterable<ExportedDocument>
}

/** Documents of a collection for which `isOwn` holds, as `shown` has them. */
export const own = <T extends object>(
  spec: CollectionSpec<T>, isOwn: (doc: T, taker: Taker, id: string) => boolean,
  shown: (doc: T) => object = (doc) => doc,
): Exported => ({
  collection: spec.name,
  * documents(taker) {
    for (const { id, doc } of each(taker.view, spec)) {
      if (isOwn(doc, taker, id)) {
        yield { collection: spec.name, id, document: shown(doc) }
      }
    }
  },
})

/** Documents of nobody that every owner may read by some command. */
export const everybodys = <T extends object>(spec: CollectionSpec<T>): Exported =>
  own(spec, () => true)

/** Documents that follow from others, or that nobody but the program itself reads. */
export const nobodys = <T extends object>(spec: CollectionSpec<T>): Exported =>
  ({ collection: spec.name, documents: () => [] })

const ofTask = ({ view, owner }: Taker, taskId: string): boolean =>
  findTask(view, taskId)?.owner === owner

/** Whether an operation was made for the taker. */
export const isOwnOperation = (taker: Taker, operationId: string): boolean =>
  findReservation(taker.view, operationId)?.principal === taker.owner
  || taker.operations.has(operationId)

const decidedFor = ({ owner }: Taker, { request }: TrustDecision): boolean =>
  request['principal'] === owner

/** Whether the decision that a row names was made for the taker. */
export const isOwnDecision = (taker: Taker, decisionId: string): boolean => {
  const decision = taker.view.get(collections.decisions, decisionId)
  return decision !== undefined && decidedFor(taker, decision)
}

const isOwnTask = (task: Task, { owner }: Taker): boolean => task.owner === owner

/** Members of a document that open something, or tell one secret from another. */
const without = <T extends object>(...names: readonly (keyof T)[]) => (doc: T): Partial<T> => {
  const shown: Partial<T> = { ...doc }
  for (const name of names) delete shown[name]
  return shown
}

/** What governance gives out. */
export const exportedOfGovernance: readonly Exported[] = [
  own(collections.principals, (doc, { owner }) => doc.principal_id === owner,
    without('passphrase')),
  nobodys(collections.defaults),
  own(collections.roots, (doc, { owner }) => doc.principal_id === owner, without('token_digest')),
  own(collections.pastRoots, (doc, { owner }) => doc.principal_id === owner,
    without('token_digest')),
  own(collections.goals, (doc, taker) => doc.owner === taker.owner),
  own(collections.consents, (doc, { owner }) => doc.principal === owner
    || doc.acknowledgments.some((one) => one.owner === owner)),
  everybodys(collections.policy),
  nobodys(collections.policyHead),
  nobodys(collections.ceilingOwner),
  own(collections.saveIntents, (doc, { owner }) => doc.principal === owner),
  own(collections.credentials, (doc, { owner }) => doc.owner === owner, without('artifact')),
  everybodys(collections.ledgerAccounts),
  own(collections.ledgerRows, (doc, taker) =>
    doc.kind === 'ceiling' || isOwnOperation(taker, doc.operation_id)),
  own(collections.openReservations, (doc, { owner }) => doc.principal === owner),
  own(collections.closedReservations, (doc, { owner }) => doc.principal === owner),
  own(collections.openTasks, isOwnTask),
  own(collections.closedTasks, isOwnTask),
  own(collections.jobs, (doc, taker) => ofTask(taker, doc.task_id)),
  own(collections.artifacts, (doc, { owner }) => doc.owner === owner),
  own(collections.decisions, (doc, taker) => decidedFor(taker, doc)),
  own(collections.audit, (doc, { owner }) => doc.principal === owner),
  nobodys(collections.auditHead),
  own(collections.stops, (doc, { owner }) => doc.by.principal === owner),
  nobodys(collections.stopHead),
  nobodys(collections.ownerSlots),
  own(collections.idempotency, (doc, taker) =>
    doc.pruned?.owner === taker.owner || ofTask(taker, doc.task_id)),
  own(collections.taskPrunes, (doc, { owner }) => doc.principal === owner),
  everybodys(collections.lostKeys),
  nobodys(collections.service),
]

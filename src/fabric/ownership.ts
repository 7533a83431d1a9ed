/**
 * Whether everything that governance keeps is some capability's own, and whether tasks and money
 * tell the same.
 */
import {
  isPaid, ownerOfKind, ownerOfRuntime, type Capability, type Registry,
} from '../governance/capability.js'
import type { Problem } from '../governance/context.js'
import { evidenceText } from '../governance/ledger/machine.js'
import { findReservation } from '../governance/ledger/find-reservation.js'
import { unreadRuntime } from '../governance/ledger/unread.js'
import { collections, type LedgerRow, type Reservation, type Task } from '../governance/rows.js'
import { findEach } from '../state/each.js'
import type { Entry, View } from '../state/types.js'

/** Whether a finished task and its money tell the same; open ones are the ledger's. */
const agrees = (owner: Capability, task: Task, money: Reservation | undefined): boolean => {
  if (!isPaid(owner)) return money === undefined
  if (task.state === 'succeeded') {
    return money?.state === 'settled' && money.overrun !== 'review_required'
  }
  if (task.state === 'failed' || task.state === 'cancelled') {
    return money === undefined || money.state === 'settled' || money.state === 'released'
  }
  return true
}

const taskProblems = (registry: Registry, view: View): Problem[] => {
  const look = ({ id, doc }: Entry<Task>): Problem[] => {
    const owner = ownerOfKind(registry, doc.kind)
    if (owner === undefined) {
      const text = 'A task is of a kind that no capability has.'
      return [{ code: 'task_kind_unknown', subject: id, text }]
    }
    const problems: Problem[] = []
    if (!agrees(owner, doc, findReservation(view, doc.operation_id))) {
      const text = 'A task and its charge contradict each other.'
      problems.push({ code: 'task_money_mismatch', subject: id, text })
    }
    if (owner.operationMsMax !== null && doc.budget_left_ms > owner.operationMsMax) {
      const text = 'A task has more time left than its capability ever gives.'
      problems.push({ code: 'task_budget_beyond', subject: id, text })
    }
    return problems
  }
  return [
    ...findEach(view, collections.openTasks, look),
    ...findEach(view, collections.closedTasks, look),
  ]
}

/** A hold for records that nobody can read: no capability's, and only a person settles it. */
const standsForUnread = ({ kind, runtime, evidence }: LedgerRow): boolean =>
  runtime === unreadRuntime && kind === 'reserve' && evidence?.['restored'] === true

const moneyProblems = (registry: Registry, view: View): Problem[] =>
  findEach(view, collections.ledgerRows, ({ id, doc }): Problem[] => {
    if (doc.runtime === null || (doc.kind !== 'reserve' && doc.kind !== 'settle')) return []
    if (standsForUnread(doc)) return []
    const owner = ownerOfRuntime(registry, doc.runtime)
    if (owner === undefined) {
      const text = 'A ledger row is of a runtime that no capability has.'
      return [{ code: 'ledger_runtime_unknown', subject: id, text }]
    }
    const source = evidenceText(doc, 'source') ?? ''
    if (doc.kind === 'reserve' || Object.hasOwn(owner.sources, source)) return []
    const text = 'A charge rests on evidence that its capability does not settle from.'
    return [{ code: 'ledger_source_foreign', subject: id, text }]
  })

const labelProblems = (registry: Registry, view: View): Problem[] => {
  const known = new Set(registry.flatMap(({ artifactLabels }) => artifactLabels))
  return findEach(view, collections.artifacts, ({ id, doc }) =>
    (known.has(doc.label) ? [] : [{
      code: 'artifact_label_unknown', subject: id,
      text: 'A private artifact is of a type that no capability keeps.',
    }]))
}

/** Everything that no capability answers for, and every task that its money contradicts. */
export const verifyOwnership = (registry: Registry) => (view: View): Problem[] => [
  ...taskProblems(registry, view),
  ...moneyProblems(registry, view),
  ...labelProblems(registry, view),
]

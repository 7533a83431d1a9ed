/**
 * What a dead process left is resolved before any mutating verb does its own work: a reservation
 * that never reached contact is released; one that was contacted and not settled becomes unknown
 * with its full liability; a half-done save is rolled back; a witness one line behind is completed.
 * Nothing is sent again and no bill is asked for. A process is dead when the kernel
 * lets us lock the guard file that it held. A reservation that its own rows contradict is left as
 * it is, its liability held: it is never released, and it keeps nothing else from being resolved.
 */
import { isoFromMs } from '../base/clock.js'
import { SallyportError } from '../base/errors.js'
import type { Tx, View } from '../state/types.js'
import { appendAudit } from './audit.js'
import { moveTask } from './board/move.js'
import type { Gov } from './gov.js'
import { isHeld, sweepGuards } from './guard.js'
import { findReservation } from './ledger/read.js'
import { markUnknown, release } from './ledger/settle.js'
import { policyAt, policyHead } from './policy/head.js'
import { publishRevision } from './policy/publish.js'
import { rollBackSave } from './policy/save.js'
import { witnessRevision, witnessStatus } from './policy/witness.js'
import { collections, type Reservation, type SaveIntent, type Task } from './rows.js'

/** What a capability says of its own tasks when one of them was cut off. */
export interface RecoveryRule {
  readonly kind: string
  /** Reason of the `cost_liability` block of a task whose charge nobody knows. */
  readonly unknownReason: string
  /** Writes what the capability keeps of the end (its receipt), in the same record. */
  onInterrupted(tx: Tx, now: string, task: Task): void
}

/** What was resolved, for one line on standard error each. */
export interface RecoveryReport {
  readonly released: readonly string[]
  readonly unknown: readonly string[]
  /** Operations whose reservation could not be resolved: rows that contradict it, or the ledger. */
  readonly leftAlone: readonly string[]
  readonly endedTasks: readonly string[]
  readonly rolledBackSaves: readonly string[]
  readonly witnessCompleted: boolean
}

/** A reservation under the id that it lies under, which an altered one does not say itself. */
interface Held {
  readonly id: string
  readonly doc: Reservation
}

interface Leftovers {
  readonly intents: readonly SaveIntent[]
  readonly reservations: readonly Held[]
  readonly tasks: readonly Task[]
  readonly witnessBehind: boolean
}

const active = new Set(['accepted', 'queued', 'running'])

const leftovers = (gov: Gov, view: View): Leftovers => {
  const dead = (id: string): boolean => !isHeld(gov.store.dir, id)
  return {
    intents: view.all(collections.saveIntents)
      .map(({ doc }) => doc)
      .filter((doc) => doc.ended_at === null && dead(doc.intent_id)),
    reservations: view.all(collections.openReservations)
      .filter(({ doc }) => doc.state === 'reserved' || doc.state === 'contacted')
      .filter(({ id }) => dead(id)),
    tasks: view.all(collections.openTasks)
      .map(({ doc }) => doc)
      .filter((doc) => active.has(doc.state) && dead(doc.operation_id)),
    witnessBehind:
      witnessStatus(view, gov.store.witness, (n) => policyAt(view, n)) === 'behind_by_one',
  }
}

const isEmpty = (found: Leftovers): boolean =>
  found.intents.length + found.reservations.length + found.tasks.length === 0
  && !found.witnessBehind

const keyOf = ({ id, doc }: Held) =>
  ({ operationId: id, runtime: doc.runtime, profile: doc.profile })

type Resolved = 'released' | 'unknown' | 'leftAlone'

/**
 * Takes one step of a reservation's money, or leaves it: a ledger step checks everything before it
 * writes anything, so a refused one has changed nothing in this transaction.
 */
const orLeave = (outcome: Resolved, step: () => void): Resolved => {
  try {
    step()
    return outcome
  } catch (error) {
    if (error instanceof SallyportError && error.kind === 'blocked') return 'leftAlone'
    throw error
  }
}

const resolveReservation = (tx: Tx, now: string, held: Held): Resolved => {
  const key = keyOf(held)
  return held.doc.state === 'reserved'
    ? orLeave('released', () => release(tx, now, { ...key, proof: 'never_contacted' }))
    : orLeave('unknown', () => {
        markUnknown(tx, now, { ...key, reason: 'interrupted_after_contact' })
      })
}

const endTask = (
  tx: Tx, now: string, task: Task, unknown: boolean, rule: RecoveryRule | undefined,
): void => {
  if (unknown) {
    const reason = rule?.unknownReason ?? 'charge_unknown'
    moveTask(tx, now, task.task_id, 'blocked', { blocked: { kind: 'cost_liability', reason } })
  } else if (task.cancel_requested_at !== null) {
    moveTask(tx, now, task.task_id, 'cancelled', { reason: 'cancelled_by_operator' })
  } else {
    moveTask(tx, now, task.task_id, 'failed', { reason: 'interrupted_before_contact' })
  }
  rule?.onInterrupted(tx, now, task)
}

/** Whether an interrupted operation may still cost something, as far as its rows tell. */
const mayOwe = (tx: Tx, operationId: string): boolean => {
  const reservation = findReservation(tx, operationId)
  if (reservation) return reservation.state !== 'released' && reservation.state !== 'settled'
  // No hold, and yet the route says that somebody was contacted: rows are missing.
  return (tx.get(collections.routes, operationId)?.contacted_at ?? null) !== null
}

const resolve = (
  gov: Gov, tx: Tx, rules: readonly RecoveryRule[],
): RecoveryReport => {
  const now = isoFromMs(gov.clock.wallMs())
  const found = leftovers(gov, tx)
  const report: Record<Resolved, string[]> = { released: [], unknown: [], leftAlone: [] }
  for (const held of found.reservations) {
    report[resolveReservation(tx, now, held)].push(held.id)
  }
  for (const task of found.tasks) {
    const rule = rules.find(({ kind }) => kind === task.kind)
    endTask(tx, now, task, mayOwe(tx, task.operation_id), rule)
  }
  for (const intent of found.intents) rollBackSave(gov, tx, now, intent)
  if (found.witnessBehind) {
    const head = policyHead(tx)
    tx.afterSync(() => witnessRevision(gov.store.witness, head))
  }
  const resolved = report.released.length + report.unknown.length
    + found.tasks.length + found.intents.length
  // What is left alone is found anew each time; it is told each time and written down once.
  if (resolved > 0 || found.witnessBehind) {
    appendAudit(tx, now, {
      what: 'recovery.ran', principal: null, root: null, subject: null,
      facts: {
        released: report.released.length, unknown: report.unknown.length,
        left_alone: report.leftAlone.length,
        tasks: found.tasks.length, saves: found.intents.length, witness: found.witnessBehind,
      },
    })
  }
  return {
    ...report,
    endedTasks: found.tasks.map(({ task_id }) => task_id),
    rolledBackSaves: found.intents.map(({ intent_id }) => intent_id),
    witnessCompleted: found.witnessBehind,
  }
}

const nothing: RecoveryReport = {
  released: [], unknown: [], leftAlone: [], endedTasks: [], rolledBackSaves: [], witnessCompleted: false,
}

/** Resolves leftovers; takes the lock only when a look without it found some. */
export const recoverInterrupted = async (
  gov: Gov, rules: readonly RecoveryRule[],
): Promise<RecoveryReport> => {
  if (isEmpty(leftovers(gov, gov.store.read()))) return nothing
  const report = await gov.store.transact('recovery', (tx) => resolve(gov, tx, rules))
  sweepGuards(gov.store.dir)
  return report
}

/**
 * What must hold in a store that was put back from a backup: every root ends, every unfinished
 * contact becomes unknown, and a revoked revision is published above the anchor, so that the
 * restored store can contact nobody until an operator grants anew.
 */
export const settleRestored = (gov: Gov): Promise<void> =>
  gov.store.transact('state restore', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    for (const { id, doc } of tx.all(collections.roots)) {
      if (doc.ended) continue
      tx.put(collections.roots, id, { ...doc, ended: { at: now, reason: 'restored' } })
    }
    for (const { id, doc } of tx.all(collections.openReservations)) {
      if (doc.state === 'reserved' || doc.state === 'contacted') {
        orLeave('unknown', () => {
          markUnknown(tx, now, { ...keyOf({ id, doc }), reason: 'restored_from_backup' })
        })
      }
    }
    for (const { doc } of tx.all(collections.openTasks)) {
      if (!active.has(doc.state)) continue
      endTask(tx, now, doc, mayOwe(tx, doc.operation_id), undefined)
    }
    for (const { id, doc } of tx.all(collections.consents)) {
      if (doc.state === 'granted') tx.put(collections.consents, id, { ...doc, state: 'revoked' })
    }
    const policy = publishRevision(tx, gov.store, now, {
      state: 'revoked', reason: 'restore', principal: null, carriesFrom: null, global: true,
      above: gov.store.anchorPolicyRevision(),
    })
    appendAudit(tx, now, {
      what: 'state.restored', principal: null, root: null, subject: String(policy.revision),
      facts: { revision: policy.revision },
    })
  })

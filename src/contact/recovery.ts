/**
 * What a dead process left is resolved before any mutating verb does its own work: a reservation
 * that never reached contact is released; one that was contacted and not settled becomes unknown
 * with its full liability; a half-done save is rolled back; a witness one line behind is completed.
 * Nothing is sent again and no bill is asked for. A process is dead when the kernel
 * lets us lock the guard file that it held. A reservation that its own rows contradict is left as
 * it is, its liability held: it is never released, and it keeps nothing else from being resolved.
 */
import { SallyportError } from '../base/errors.js'
import { appendAudit } from '../governance/audit.js'
import { moveTask } from '../governance/board/move.js'
import { isOutstanding } from '../governance/board/states.js'
import type { Carrier } from '../governance/carrier.js'
import { nowIso, type Gov } from '../governance/context.js'
import { endingOf, interruptedFacts, type RecoveryRule } from '../governance/interrupted.js'
import { carryKeys } from '../governance/board/carry-keys.js'
import { carryLiabilities } from '../governance/ledger/carry.js'
import { carryBound } from '../governance/machine-bound.js'
import { closeAndCarry } from '../governance/carried-restrictions.js'
import { markUnknown, release } from '../governance/ledger/steps.js'
import { holdCeiling } from '../governance/ledger/unread.js'
import {
  endOpenSaves, policyLeftovers, resolvePolicyLeftovers, revokeRestored, type PolicyLeftovers,
} from '../governance/recovery.js'
import {
  collections, taskStates, reservationsByState, tasksByState, type Reservation, type Task,
} from '../governance/rows.js'
import type { Former } from '../state/care/former.js'
import { rowsUnder } from '../state/indexes.js'
import type { Tx, View } from '../state/types.js'
import { wasContacted } from './routes.js'

/** What was resolved, for one line on standard error each. */
export interface RecoveryReport {
  readonly released: readonly string[]
  readonly unknown: readonly string[]
  /** Operations and tasks that could not be resolved, because rows contradict them. */
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

interface Leftovers extends PolicyLeftovers {
  readonly reservations: readonly Held[]
  readonly tasks: readonly { readonly id: string; readonly doc: Task }[]
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number =>
  (a.id < b.id ? -1 : 1)

/** Reservations whose operation may be under way. */
const heldReservations = (view: View): readonly Held[] =>
  (['reserved', 'contacted'] as const).flatMap((state) =>
    rowsUnder(view, collections.openReservations, reservationsByState, { under: [state] }))
    .sort(byId)

/** Tasks that may be under way. */
const outstandingTasks = (view: View): Leftovers['tasks'] =>
  taskStates.filter(isOutstanding).flatMap((state) =>
    rowsUnder(view, collections.openTasks, tasksByState, { under: [state] })).sort(byId)

/** Work that no living process holds. */
const deadWork = ({ store }: Gov, view: View): Pick<Leftovers, 'reservations' | 'tasks'> => {
  const dead = (id: string): boolean => !store.holds.isHeld('operation', id)
  return {
    reservations: heldReservations(view).filter(({ id }) => dead(id)),
    tasks: outstandingTasks(view).filter(({ doc }) => dead(doc.operation_id)),
  }
}

/** Whether a dead process left a reservation or a task behind. Reads only. */
export const hasDeadWork = (gov: Gov, view: View): boolean => {
  const { reservations, tasks } = deadWork(gov, view)
  return reservations.length + tasks.length > 0
}

const leftovers = (gov: Gov, view: View): Leftovers =>
  ({ ...policyLeftovers(gov, view), ...deadWork(gov, view) })

const isEmpty = (found: Leftovers): boolean =>
  found.intents.length + found.reservations.length + found.tasks.length === 0
  && !found.witnessBehind

const keyOf = ({ id, doc }: Held) =>
  ({ operationId: id, runtime: doc.runtime, profile: doc.profile })

type Resolved = 'released' | 'unknown' | 'endedTasks' | 'leftAlone'

/**
 * Takes one step of a reservation or a task, or leaves it: such a step checks everything before it
 * writes anything, so a refused one has changed nothing in this transaction. Damage goes on.
 */
const orLeave = (outcome: Resolved, step: () => void): Resolved => {
  try {
    step()
    return outcome
  } catch (error) {
    if (error instanceof SallyportError && error.kind !== 'damaged') return 'leftAlone'
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

/**
 * The end is decided before anything of it is written. `unread`: records are lost, and that of a
 * contact may be among them.
 */
const endTask = (
  tx: Tx, now: string, task: Task, rule: RecoveryRule | undefined, unread = false,
): void => {
  const facts = interruptedFacts(tx, task, wasContacted(tx, task.operation_id), rule)
  const contacted = facts.contacted || (unread && facts.money !== 'released')
  const { state, ...patch } = endingOf({ ...facts, contacted }, rule, tx)
  const ended = moveTask(tx, now, task.task_id, state, patch)
  try {
    rule?.keep?.(tx, now, ended)
  } catch {
    // Rows that the receipt needs are missing or contradict each other: `state check` tells. The
    // task has ended all the same, or every mutating verb would fail here for ever.
  }
}

const ruleOf = (rules: readonly RecoveryRule[], { kind }: Task): RecoveryRule | undefined =>
  rules.find(({ kinds }) => kinds.includes(kind))

const resolve = (
  gov: Gov, tx: Tx, rules: readonly RecoveryRule[], found: Leftovers,
): RecoveryReport => {
  const now = nowIso(gov)
  const report: Record<Resolved, string[]> = {
    released: [], unknown: [], endedTasks: [], leftAlone: [],
  }
  for (const held of found.reservations) {
    report[resolveReservation(tx, now, held)].push(held.id)
  }
  for (const { id, doc: task } of found.tasks) {
    const how = orLeave('endedTasks', () => endTask(tx, now, task, ruleOf(rules, task)))
    report[how].push(id)
  }
  resolvePolicyLeftovers(gov, tx, now, found)
  const resolved = report.released.length + report.unknown.length
    + report.endedTasks.length + found.intents.length
  // What is left alone is found anew each time; it is told each time and written down once.
  if (resolved > 0 || found.witnessBehind) {
    appendAudit(tx, now, {
      what: 'recovery.ran', principal: null, root: null, subject: null,
      facts: {
        released: report.released.length, unknown: report.unknown.length,
        left_alone: report.leftAlone.length,
        tasks: report.endedTasks.length, saves: found.intents.length, witness: found.witnessBehind,
      },
    })
  }
  return {
    ...report,
    rolledBackSaves: found.intents.map(({ intent_id }) => intent_id),
    witnessCompleted: found.witnessBehind,
  }
}

const nothing: RecoveryReport = {
  released: [], unknown: [], leftAlone: [], endedTasks: [], rolledBackSaves: [],
  witnessCompleted: false,
}

/** Resolves leftovers; takes the lock only when a look without it found some. */
export const recoverInterrupted = async (
  gov: Gov, rules: readonly RecoveryRule[],
): Promise<RecoveryReport> => {
  if (isEmpty(leftovers(gov, gov.store.read()))) return nothing
  const report = await gov.store.transact('recovery', (tx) =>
    resolve(gov, tx, rules, leftovers(gov, tx)))
  gov.store.holds.sweep()
  return report
}

/**
 * The same in a transaction that is never written, and of work alone: what a dead save left of the
 * policy is told as it is. See `fabric/seen.ts`.
 */
export const rehearseRecovery = (
  gov: Gov, tx: Tx, rules: readonly RecoveryRule[],
): RecoveryReport =>
  resolve(gov, tx, rules, { ...deadWork(gov, tx), intents: [], witnessBehind: false })

/** What was kept of former states when an old copy, or what is true of one, came into force. */
interface RestoredReport {
  /** Operations of former states that may owe something and that the present rows do not know. */
  readonly keptLiabilities: readonly string[]
  /** Operations that hold the ceiling: of what nobody can read, and of the restore itself. */
  readonly unread: readonly string[]
  /** Keys that were used in former states and are spent here too. */
  readonly keptKeys: number
  /** How many former states could not be read at all. */
  readonly unreadable: number
  /** Names of owners who wait to be enabled. */
  readonly unvouched: readonly string[]
}

/** What else a restore or a repair rests on. */
interface RestoredFrom {
  readonly rules: readonly RecoveryRule[]
  /** States that restores have replaced here, and what repairs have put aside; oldest first. */
  readonly formers: readonly Former[]
  /** What each capability keeps of them. */
  readonly carries?: readonly ((tx: Tx, former: View) => void)[]
  /** Gates that each capability had closed in them. */
  readonly gates?: Readonly<Record<string, Carrier>>
  /** What belongs to the same record. */
  readonly also?: (tx: Tx, now: string) => void
  /** Name of the owner who restores; left out: whoever `init` made. */
  readonly restorer?: string | null
}

/** One rule for a replaced state and for records that can be read but not replayed. */
const carryFormers = (
  tx: Tx, now: string, { formers, carries = [] }: RestoredFrom,
): Omit<RestoredReport, 'unvouched'> => {
  const { liabilities, unread } = carryLiabilities(tx, now, formers, 'restored_over_later_state')
  const keptKeys = carryKeys(tx, now, formers)
  for (const { view } of formers) for (const carry of [carryBound, ...carries]) carry(tx, view)
  const unreadable = formers.filter(({ readable }) => !readable).length
  const held = [...unread, ...holdCeiling(tx, now)]
  return { keptLiabilities: liabilities, unread: held, keptKeys, unreadable }
}

const endHolds = (tx: Tx, now: string): void => {
  for (const { id, doc } of heldReservations(tx)) {
    orLeave('unknown', () => {
      markUnknown(tx, now, { ...keyOf({ id, doc }), reason: 'restored_from_backup' })
    })
  }
}

/** Ends what was under way, once all is known that its money may have become. */
const endTasks = (tx: Tx, now: string, { rules, formers }: RestoredFrom): void => {
  const unread = formers.some(({ settled, holes }) => !settled && holes.length > 0)
  for (const { doc } of outstandingTasks(tx)) {
    orLeave('endedTasks', () => endTask(tx, now, doc, ruleOf(rules, doc), unread))
  }
  if (unread) for (const rule of rules) rule.unread?.(tx, now)
}

/**
 * What must hold in a store that was put back from a backup, or that a repair brought back without
 * all of its records, whatever could be read of the state before: every root ends, every owner but
 * one waits, the whole ceiling is held, and a revoked revision is published above anchor and
 * witness, so that the store can contact nobody until an operator grants anew. Every save that has
 * not ended is rolled back, every unfinished contact becomes unknown, what former states owed is
 * kept as unknown, their keys stay spent, what they had narrowed stays narrow. May run twice.
 */
export const settleRestored = (
  gov: Gov, from: RestoredFrom = { rules: [], formers: [] },
): Promise<RestoredReport> =>
  gov.store.transact('state restore', (tx) => {
    const now = nowIso(gov)
    endHolds(tx, now)
    const policy = revokeRestored(gov, tx, now)
    // Before the ceiling is held: the one that comes back with them is the one that counts.
    endOpenSaves(gov, tx, now)
    const carried = carryFormers(tx, now, from)
    endTasks(tx, now, from)
    const { gates, restorer, formers } = from
    from.also?.(tx, now)
    const unvouched = closeAndCarry(tx, now, formers, { carriers: gates, restorer })
    const report = { ...carried, unvouched }
    appendAudit(tx, now, {
      what: 'state.restored', principal: null, root: null, subject: String(policy.revision),
      facts: {
        revision: policy.revision, kept_liabilities: report.keptLiabilities.length,
        unread: report.unread.length, kept_keys: report.keptKeys, unreadable: report.unreadable,
      },
    })
    return report
  })

/**
 * How a task ends whose process died. A capability says it by a pure rule over what the rows tell,
 * before anything of the end is written; two things no rule may say are decided here: what may
 * still cost something stays blocked, and what may have been sent never counts as unsent.
 */
import type { Tx, View } from '../state/types.js'
import { costLiability } from './board/states.js'
import { findReservation } from './ledger/find-reservation.js'
import type { Task } from './rows.js'

/** What is known of a cut-off task once its money was resolved. */
export interface Interrupted {
  readonly task: Task
  /**
   * `owed`: it may still cost something; `settled`, `released`: its money is over; `none`: it has
   * no money and nothing says that it should.
   */
  readonly money: 'none' | 'released' | 'settled' | 'owed'
  /** Whether a request byte of one of its effects may have left this machine. */
  readonly contacted: boolean
}

/** Where an interrupted task goes; reasons are snake_case codes. */
export type InterruptedEnding =
  | {
    readonly state: 'blocked'
    readonly blocked: { readonly kind: string; readonly reason: string }
  }
  | { readonly state: 'failed' | 'cancelled'; readonly reason: string }

/** What a capability says of its own tasks when one of them was cut off. */
export interface RecoveryRule {
  /** Task kinds it speaks for. */
  readonly kinds: readonly string[]
  /** Its tasks never hold money, so that a contact without a hold is no lost liability. */
  readonly unpaid?: boolean
  /** Decides the end; pure, `view` is of that record. Left out: `defaultEnding`. */
  ending?(found: Interrupted, view: View): InterruptedEnding
  /**
   * Writes what the capability keeps of the end (its receipt), in the same record, once the task
   * has ended as it is given here. It builds all of it before it writes anything; what it throws
   * costs the receipt and nothing else.
   */
  keep?(tx: Tx, now: string, task: Task): void
  /**
   * Says of its work that waits for a person that it may have gone on, where records are lost that
   * nobody can read; in the record that settles the state, behind the ends of its tasks.
   */
  unread?(tx: Tx, now: string): void
}

/** Reason of a task that ended before any request byte could leave. */
export const beforeContact = 'interrupted_before_contact'

/** Reason of a task without an open charge whose effects may have happened. */
export const afterContact = 'interrupted_after_contact'

/** The end of a task whose capability says nothing else. */
export const defaultEnding = ({ task, money, contacted }: Interrupted): InterruptedEnding => {
  if (money === 'owed') {
    return { state: 'blocked', blocked: { kind: costLiability, reason: 'charge_unknown' } }
  }
  if (contacted) return { state: 'failed', reason: afterContact }
  return task.cancel_requested_at === null
    ? { state: 'failed', reason: beforeContact }
    : { state: 'cancelled', reason: 'cancelled_by_operator' }
}

const isSound = ({ money, contacted }: Interrupted, ending: InterruptedEnding): boolean => {
  if (money === 'owed') return ending.state === 'blocked' && ending.blocked.kind === costLiability
  return !contacted || ending.state === 'blocked' || ending.reason !== beforeContact
}

/**
 * What the rule says, unless it would free a charge that nobody knows or call a contact unsent;
 * then, and where there is no rule, the default.
 */
export const endingOf = (
  found: Interrupted, rule: RecoveryRule | undefined, view: View,
): InterruptedEnding => {
  const ending = (rule?.ending ?? defaultEnding)(found, view)
  return isSound(found, ending) ? ending : defaultEnding(found)
}

/**
 * What the rows tell of a cut-off task, `marked` whether its route says that somebody was
 * contacted. Call it once its reservation was resolved.
 */
export const interruptedFacts = (
  view: View, task: Task, marked: boolean, rule: RecoveryRule | undefined,
): Interrupted => {
  const state = findReservation(view, task.operation_id)?.state
  if (state === 'released') return { task, money: 'released', contacted: false }
  if (state === 'settled') return { task, money: 'settled', contacted: true }
  if (state !== undefined) return { task, money: 'owed', contacted: marked }
  // No hold, and yet the route says that somebody was contacted: rows are missing.
  return { task, money: marked && rule?.unpaid !== true ? 'owed' : 'none', contacted: marked }
}

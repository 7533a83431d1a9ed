/**
 * What the rows of governance are found by beside their ids, so that no verb reads a history to
 * find a part of it. Collections without an index are small by nature: owners, saved set-ups, what
 * is under way; or they are read by id, or whole by `state check` alone.
 */
import { isoFromMs, msFromIso } from '../base/clock.js'
import type { Index, IndexKey } from '../state/types.js'
import { byTail } from './by-tail.js'
import type {
  AuditRow, Consent, Goal, Job, LedgerRow, Reservation, Root, SaveIntent, Task, TrustDecision,
} from './rows.js'

const digits = 12
/** A number as a part of a key: padded, so that texts sort as numbers do. */
export const numberPart = (number: number): string => String(number).padStart(digits, '0')

/** When a root is over, milliseconds: ended, or past its expiry. */
export const rootOverMs = ({ expires_at, ended }: Root): number =>
  Math.min(msFromIso(expires_at), ended === null ? Infinity : msFromIso(ended.at))

/** Roots by the keyed digest of their token. */
export const rootsByToken: Index<Root> = {
  name: 'token', parts: 1, keysOf: ({ token_digest: digest }) => [[digest]],
}
/** Roots of an owner, in the order of their ids. */
export const rootsByOwner: Index<Root> = {
  name: 'owner', parts: 1, keysOf: ({ principal_id: owner }) => [[owner]],
}
/** Roots that were not ended, by owner; they may have expired. */
export const rootsUnended: Index<Root> = {
  name: 'unended', parts: 1,
  keysOf: ({ principal_id: owner, ended }) => (ended === null ? [[owner]] : []),
}
/** Roots by the time from which they are over. */
export const rootsByEnd: Index<Root> = {
  name: 'over', parts: 1, keysOf: (root) => [[isoFromMs(rootOverMs(root))]],
}

/** Sessions by the end of their ids. */
export const rootsByTail = byTail<Root>(({ root_id: id }) => id)
/** Goals by the end of their ids. */
export const goalsByTail = byTail<Goal>(({ goal_id: id }) => id)
/**
 * Jobs by the end of their tasks' ids: a job is written once where a task moves from collection to
 * collection, so that an index of tasks would take three entries for each.
 */
export const jobsByTaskTail = byTail<Job>(({ task_id: id }) => id)
const noKeys: readonly IndexKey[] = []
const operationTail = byTail<LedgerRow>(({ operation_id: id }) => id)
/** The first row of each operation by the end of its id; like a job, it is written once. */
export const ledgerByTail: Index<LedgerRow> = {
  ...operationTail,
  keysOf: (row) => (row.kind === 'reserve' ? operationTail.keysOf(row) : noKeys),
}
/** The audit by the end of its ids. */
export const auditByTail = byTail<AuditRow>(({ audit_id: id }) => id)

/** Goals of an owner, in the order of their ids. */
export const goalsByOwner: Index<Goal> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
/** The default goal of an owner. */
export const goalsDefault: Index<Goal> = {
  name: 'default', parts: 1,
  keysOf: ({ owner, is_default: isDefault }) => (isDefault ? [[owner]] : []),
}

/** Consents to a purpose, by the revision that granted them. */
export const consentsByPurpose: Index<Consent> = {
  name: 'purpose', parts: 2,
  keysOf: ({ purpose, granted_revision: revision }) => [[purpose, numberPart(revision)]],
}
/** Consents by their state. */
export const consentsByState: Index<Consent> = {
  name: 'state', parts: 1, keysOf: ({ state }) => [[state]],
}

/** Saves that have not ended. */
export const intentsOpen: Index<SaveIntent> = {
  name: 'open', parts: 1, keysOf: ({ route, ended_at: at }) => (at === null ? [[route]] : []),
}

/** Reservations by their state. */
export const reservationsByState: Index<Reservation> = {
  name: 'state', parts: 1, keysOf: ({ state }) => [[state]],
}
/** Reservations by what a person has to say of an overrun. */
export const reservationsByOverrun: Index<Reservation> = {
  name: 'overrun', parts: 1, keysOf: ({ overrun }) => (overrun === 'none' ? [] : [[overrun]]),
}
/** Reservations of an owner, in the order of their operations. */
export const reservationsByOwner: Index<Reservation> = {
  name: 'owner', parts: 1, keysOf: ({ principal }) => [[principal]],
}

/** Tasks by their state, whoever's they are. */
export const tasksByState: Index<Task> = {
  name: 'state', parts: 1, keysOf: ({ state }) => [[state]],
}
/** Tasks of an owner, in the order of their ids. */
export const tasksByOwner: Index<Task> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
/** Tasks of an owner by kind. */
export const tasksByKind: Index<Task> = {
  name: 'owner_kind', parts: 2, keysOf: ({ owner, kind }) => [[owner, kind]],
}
/** Tasks of an owner by state. */
export const tasksByOwnState: Index<Task> = {
  name: 'owner_state', parts: 2, keysOf: ({ owner, state }) => [[owner, state]],
}
/** Tasks of an owner by goal. */
export const tasksByGoal: Index<Task> = {
  name: 'owner_goal', parts: 2, keysOf: ({ owner, goal_id: goal }) => [[owner, goal]],
}
/** Finished tasks of an owner whose result waits for a review. */
export const tasksToReview: Index<Task> = {
  name: 'to_review', parts: 1,
  keysOf: ({ owner, review }) => (review === 'pending' ? [[owner]] : []),
}

/** Trust decisions on an operation. */
export const decisionsByOperation: Index<TrustDecision> = {
  name: 'operation', parts: 1, keysOf: ({ operation_id: operation }) => [[operation]],
}

/** The name of what happened and every beginning of it before a dot. */
const namesOf = (what: string): string[] => {
  const words = what.split('.')
  return words.map((_, at) => words.slice(0, at + 1).join('.'))
}

/** The audit by number: its order, which ids need not follow. */
export const auditByNumber: Index<AuditRow> = {
  name: 'number', parts: 1, keysOf: ({ number }) => [[numberPart(number)]],
}
/** The audit by what happened, or by the beginning of its name, then by number. */
export const auditByName: Index<AuditRow> = {
  name: 'what', parts: 2,
  keysOf: ({ what, number }) => namesOf(what).map((name) => [name, numberPart(number)]),
}
/** The audit by who did it, then by number. */
export const auditByPrincipal: Index<AuditRow> = {
  name: 'principal', parts: 2,
  keysOf: ({ principal, number }) => (principal === null ? [] : [[principal, numberPart(number)]]),
}
/** The audit by time and number. */
export const auditByTime: Index<AuditRow> = {
  name: 'at', parts: 2, keysOf: ({ at, number }) => [[at, numberPart(number)]],
}

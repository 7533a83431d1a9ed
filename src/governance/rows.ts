/**
 * Every document that governance keeps, as closed valibot shapes. A record is checked against
 * these just before it is written and right after it is read; an extra field is damage.
 * Money is integer micro-USD, times are ISO 8601 UTC text (`*_at`) or milliseconds (`*_ms`).
 */
import * as v from 'valibot'
import { count, counted, iso, sha256, text } from '../base/schema.js'
import type { CollectionSpec, Index, IndexKey } from '../state/types.js'
import { isoFromMs, msFromIso } from '../base/clock.js'
import { byTail } from './by-tail.js'

const nullable = <S extends v.GenericSchema>(schema: S) => v.nullable(schema)

/** Where an order came from; `face` is `cli`, `service` or `job`. */
export const provenanceShape = v.strictObject({
  face: v.picklist(['cli', 'service', 'job']),
  principal: text,
  root: nullable(text),
})
export type Provenance = v.InferOutput<typeof provenanceShape>

const principalShape = v.strictObject({
  principal_id: text,
  name: text,
  passphrase: nullable(
    v.strictObject({
      kdf: v.literal('scrypt'), n: count, r: count, p: count, salt: text, hash: text,
    }),
  ),
  created_at: iso,
  disabled_at: nullable(iso),
  /** Disabled by nobody, but because a copy came into force: may be enabled by name. */
  disabled_by_restore: v.optional(v.literal(true)),
})
/** An owner: someone who logs in. */
export type Principal = v.InferOutput<typeof principalShape>

const rootShape = v.strictObject({
  root_id: text,
  principal_id: text,
  /** Keyed digest of the session token; the token itself is never stored in a row. */
  token_digest: sha256,
  issued_at: iso,
  idle_ms: count,
  expires_at: iso,
  ended: nullable(v.strictObject({ at: iso, reason: text })),
  /**
   * Whether another row rests on this session (`noteNamed`): then its row outlives the sweep at
   * login. Absent in rows of programs that did not count: such a one may be named.
   */
  named: v.optional(v.boolean()),
})
/** An operator login session; its last use lives in `run/`. */
export type Root = v.InferOutput<typeof rootShape>

const goalShape = v.strictObject({
  goal_id: text,
  revision: count,
  owner: text,
  title: text,
  state: v.picklist(['open', 'closed']),
  is_default: v.boolean(),
  created_at: iso,
  updated_at: iso,
})
/** What tasks are for; its revision rises with each change. */
export type Goal = v.InferOutput<typeof goalShape>

/**
 * Name of one of the routes that share one policy epoch, one revoke fence and one ceiling: one
 * word. Which routes there are, the capabilities say.
 */
const routeNameShape = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9]{0,31}$/))
export type RouteName = v.InferOutput<typeof routeNameShape>

const consentShape = v.strictObject({
  consent_id: text,
  route: routeNameShape,
  /** For example `alpha.text`, `gateway.cloud_egress`, `gateway.vision`. */
  purpose: text,
  state: v.picklist(['granted', 'revoked', 'cleared', 'withdrawn']),
  /** Revision at which the operator granted it. */
  granted_revision: count,
  /** Active revision it is bound to now; carried forward by publication only. */
  bound_revision: count,
  principal: text,
  root: text,
  granted_at: iso,
  expires_at: nullable(iso),
  /** SHA-256 of the exact text that was acknowledged. */
  statement_sha256: sha256,
  /**
   * Who acknowledged this very consent, each owner once: the text as it was shown to them. Another
   * consent has none of these.
   */
  acknowledgments: v.array(v.strictObject({ owner: text, statement_sha256: sha256, at: iso })),
})
/** The operator's consent to one purpose, and the acknowledgments of it. */
export type Consent = v.InferOutput<typeof consentShape>

const policyShape = v.strictObject({
  revision: count,
  state: v.picklist(['active', 'revoked']),
  /** `init`, `save_begin` (r+1), `save` (r+2), `operator_revoke`, `save_interrupted`, `restore`. */
  reason: text,
  /** Raised by each global revocation, shared by every route. */
  epoch: count,
  /** Revision of the last global revocation; a consent granted at or below it is dead. */
  fence: count,
  /**
   * Revision whose current consents a later save may carry over; null after a global revocation.
   * This is what tells the revoked half of a save from an operator's revoke.
   */
  carries_from: nullable(count),
  published_at: iso,
  principal: nullable(text),
  consents: v.array(v.strictObject({ consent_id: text, purpose: text })),
})
export type PolicyRevision = v.InferOutput<typeof policyShape>

const saveIntentShape = v.strictObject({
  intent_id: text,
  route: routeNameShape,
  /** How far the save came: r+1, credential, accounting; then how it ended. */
  phase: v.picklist([
    'revoked', 'credential', 'accounting', 'applied', 'rolled_back', 'superseded',
  ]),
  base_revision: count,
  /** r+1: what the last step compares the head with. */
  revoked_revision: count,
  principal: text,
  root: text,
  /** The one deployment ceiling at r, for the roll-back; null before the first set-up. */
  ceiling_before_microusd: nullable(count),
  staged_credential: nullable(text),
  created_at: iso,
  ended_at: nullable(iso),
})
/** Durable intent of one save, so that a crash after r+1 is rolled back and never activated. */
export type SaveIntent = v.InferOutput<typeof saveIntentShape>

const artifactRefShape = v.strictObject({ stored_sha256: sha256, sha256, bytes: count })

const credentialShape = v.strictObject({
  credential_ref: text,
  fingerprint: text,
  /** Principal id of whose it is; null for a key of the whole deployment. */
  owner: nullable(text),
  /** What it opens, in words: a route or a repository. */
  name: text,
  /** Counts the times that a secret was stored under this reference, the same one again too. */
  updates: count,
  /** The sealed secret lies in an artifact, so that not even its sealed bytes are in the log. */
  artifact: artifactRefShape,
  staged: v.boolean(),
  saved_at: iso,
})
/** A vault entry; the world sees presence and fingerprint. */
export type Credential = v.InferOutput<typeof credentialShape>

/**
 * Which runtime spends; every ledger row names it: two words or more, for example
 * `gateway_route`. Which runtimes there are, the capabilities say; `state check` compares. The one
 * word `unread` is nobody's: it stands for records that a repair or a restore could not read.
 */
export const runtimeShape = v.pipe(
  v.string(), v.maxLength(64), v.regex(/^(?:unread|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)$/),
)
export type Runtime = v.InferOutput<typeof runtimeShape>

const ledgerAccountShape = v.strictObject({
  ledger_id: text,
  ceiling_microusd: count,
  settled_microusd: count,
  /** Reserved or contacted, not yet settled. */
  held_microusd: count,
  /** Unknown charges: the full liability of each. */
  unknown_microusd: count,
  rows: count,
  last_row_id: nullable(text),
  created_at: iso,
})
/** The one ledger: its ceiling and what is consumed of it. */
export type LedgerAccount = v.InferOutput<typeof ledgerAccountShape>

const ledgerRowShape = v.strictObject({
  row_id: text,
  ledger_id: text,
  operation_id: text,
  kind: v.picklist([
    'reserve', 'contact', 'recheck', 'settle', 'release', 'unknown', 'manual_settle',
    'overrun_review', 'ceiling',
  ]),
  runtime: nullable(runtimeShape),
  profile: nullable(text),
  /** Effect on the hold or the charge, micro-USD; what it means depends on `kind`. */
  amount_microusd: count,
  /** Typed evidence, content-safe; null where the kind has none. */
  evidence: v.nullable(v.record(text, v.unknown())),
  previous_row_id: nullable(text),
  created_at: iso,
})
/** One immutable step of one operation's money. */
export type LedgerRow = v.InferOutput<typeof ledgerRowShape>

const reservationShape = v.strictObject({
  operation_id: text,
  runtime: runtimeShape,
  profile: text,
  task_id: nullable(text),
  principal: text,
  /** Id of what it is about, where that is one thing and no task: an observation. */
  subject: v.optional(text),
  /** Full liability while the charge is not known. */
  bound_microusd: count,
  state: v.picklist(['reserved', 'contacted', 'settled', 'released', 'unknown']),
  charged_microusd: nullable(count),
  overrun: v.picklist(['none', 'review_required', 'accepted', 'rejected']),
  row_ids: v.array(text),
  updated_at: iso,
})
/** Where one operation's money stands; derived from its rows and checked against them. */
export type Reservation = v.InferOutput<typeof reservationShape>

/** States of a task, in the order of its life; `prepared` work waits for a person to start it. */
export const taskStates = [
  'prepared', 'accepted', 'queued', 'running', 'succeeded', 'blocked', 'failed', 'cancelled',
] as const
export type TaskState = (typeof taskStates)[number]

const taskShape = v.strictObject({
  task_id: text,
  /** Counts every change of this row, from 1. */
  revision: counted,
  /** The native kind, for example `inference.alpha-text.v1`. */
  kind: text,
  owner: text,
  /**
   * What its owner's one place for outstanding tasks is for, besides the kind (a connection); null
   * where the kind has one place.
   */
  place: nullable(text),
  goal_id: text,
  goal_revision: count,
  /** Root that admitted it: contact and adoption need exactly this one, live. */
  original_root: text,
  /** Root for reading, review and cancel; moved by `task recover` only. */
  current_root: text,
  input_artifact_id: text,
  idempotency_key: text,
  /** SHA-256 of the canonical request: same key and other content is a conflict. */
  request_digest: sha256,
  job_id: text,
  operation_id: text,
  state: v.picklist(taskStates),
  /** Present only in state `blocked`. */
  blocked: nullable(v.strictObject({ kind: text, reason: text })),
  /** Present only in states `failed` and `cancelled`. */
  reason: nullable(text),
  cancel_requested_at: nullable(iso),
  /** Which try at the work this is, from 1; raised when blocked work goes on. */
  attempt: counted,
  lease: nullable(v.strictObject({ holder: text, fence: count, expires_at: iso })),
  /** Fence of the last lease that was granted; it outlives every lease. */
  lease_fence: count,
  provenance: provenanceShape,
  purpose: v.strictObject({
    consent_id: text, purpose: text, revision: count, root: text, expires_at: iso,
  }),
  /** Wall deadline of the whole operation and what was left of its budget at the last step. */
  deadline_at: iso,
  budget_left_ms: count,
  review: v.picklist(['none', 'pending', 'approved', 'rejected']),
  done_at: nullable(iso),
  result_artifact_id: nullable(text),
  recovered: v.array(v.strictObject({ at: iso, root: text, from_root: text })),
  created_at: iso,
  updated_at: iso,
})
/** A row of the work board. */
export type Task = v.InferOutput<typeof taskShape>

const jobShape = v.strictObject({
  job_id: text,
  task_id: text,
  /** That of its task, from 1. */
  attempt: counted,
  attempt_id: text,
  request_id: text,
  operation_id: text,
  /** Content-safe receipt of the capability (its own schema), null until there is one. */
  receipt: v.nullable(v.record(text, v.unknown())),
  /** Capability's own progress facts, content-safe (for alpha: billing uuid and attempts). */
  progress: v.record(text, v.unknown()),
  created_at: iso,
  updated_at: iso,
})
/** How the last attempt at a task went. */
export type Job = v.InferOutput<typeof jobShape>

const artifactRowShape = v.strictObject({
  artifact_id: text,
  /** HKDF label it is sealed under; also the kind, for example `svc.alpha.text.input.v1`. */
  label: text,
  ref: artifactRefShape,
  owner: text,
  task_id: nullable(text),
  adopted: v.boolean(),
  created_at: iso,
})
/** Registry of private artifacts: no content, only digests. */
export type ArtifactRow = v.InferOutput<typeof artifactRowShape>

const decisionShape = v.strictObject({
  decision_id: text,
  operation_id: text,
  outcome: v.picklist(['allow', 'deny']),
  reasons: v.array(text),
  /** The exact trust request that was evaluated, content-safe. */
  request: v.record(text, v.unknown()),
  request_digest: sha256,
  made_at: iso,
})
/** A trust decision: made by evaluation only, never taken from a caller. */
export type TrustDecision = v.InferOutput<typeof decisionShape>

const auditShape = v.strictObject({
  audit_id: text,
  number: count,
  at: iso,
  what: text,
  principal: nullable(text),
  root: nullable(text),
  subject: nullable(text),
  facts: v.record(text, v.union([v.string(), v.number(), v.boolean(), v.null()])),
  previous_digest: sha256,
})
/** One line of the append-only, hash-chained audit. */
export type AuditRow = v.InferOutput<typeof auditShape>

const stopByShape = v.strictObject({
  principal: nullable(text),
  root: nullable(text),
  /** The command that asked. */
  verb: text,
})

const recordedStopShape = v.strictObject({
  stop_id: text,
  /** `all`, `principal`, `root`, `task`, a capability's own, or `unreadable`. */
  kind: text,
  target: nullable(text),
  by: stopByShape,
  at: iso,
  recorded_at: iso,
  /** `refused`: whoever asked had no authority for it when it came to be recorded. */
  outcome: v.picklist(['recorded', 'refused']),
  /** Code of the refusal. */
  reason: nullable(text),
  /** What the record ended: ids, names and counts. */
  facts: v.record(text, v.union([v.string(), v.number(), v.boolean(), v.null()])),
})
/** A stop that is spent: its effect is in the rows, and its file means nothing any more. */
export type RecordedStop = v.InferOutput<typeof recordedStopShape>

const stopHeadShape = v.strictObject({
  /** How many stops took effect by a record. */
  count: count,
  /** The newest of them, oldest first; `number` counts from 1. */
  recent: v.array(v.strictObject({ number: count, kind: text, target: nullable(text) })),
})
/** What a request that is leaving compares with what it began under. */
export type StopHead = v.InferOutput<typeof stopHeadShape>

const auditHeadShape = v.strictObject({ number: count, digest: sha256 })
const defaultsShape = v.strictObject({ principal_id: text })
const policyHeadShape = v.strictObject({ revision: count })
const ceilingOwnerShape = v.strictObject({ route: routeNameShape })
const ownerSlotShape = v.strictObject({ owner: text, kind: text, task_id: text })
const keyShape = v.strictObject({
  key: text, kind: text, task_id: text, request_digest: sha256,
  /** Used in a store that a backup replaced: its task is not here, and the key is spent. */
  restored: v.optional(v.literal(true)),
  /** A person has had its task removed: the key and the digest of its content stay for ever. */
  pruned: v.optional(v.strictObject({ at: iso, owner: text })),
})
export type UsedKey = v.InferOutput<typeof keyShape>

const taskPruneShape = v.strictObject({
  prune_id: text,
  /** When its first and its last task went. */
  at: iso,
  last_at: iso,
  /** What was asked for: tasks that had not changed since then. */
  before: iso,
  principal: text,
  /** How many went, by the state that they had ended in. */
  succeeded: count,
  failed: count,
  cancelled: count,
})
/** What is left of the tasks that one prune removed: counts and no content. */
export type TaskPrune = v.InferOutput<typeof taskPruneShape>

const portShape = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(65_535))

/** Where the service listens and what it shows of itself; its key lies in the vault. */
const serviceShape = v.strictObject({
  /** Chosen once, kept for devices and scripts that know it. */
  port: portShape,
  /** `sha256/` and the base64url SHA-256 of the public key as DER SubjectPublicKeyInfo. */
  pin: text,
  /** PEM; made anew under the same key before it runs out. */
  certificate: text,
  created_at: iso,
  /** For machines elsewhere; absent until the service was started with such a place once. */
  public: v.optional(v.strictObject({
    /** HOST:PORT that they are told; null where the last start had none. */
    place: v.nullable(text),
    /** Port of loopback that it is forwarded to, kept. */
    port: portShape,
  })),
})
/** The lasting identity of the service of one state. */
export type ServiceRow = v.InferOutput<typeof serviceShape>

/** Keys from one to before another, any of which may have been used: nobody can read them. */
const lostKeysShape = v.strictObject({
  from: text, to: v.nullable(text), at: text,
  /** Absent until a person says that keys of it may be used again. */
  released: v.optional(v.strictObject({ at: text, principal: text })),
})
/** A range of idempotency keys that damage took. */
export type LostKeys = v.InferOutput<typeof lostKeysShape>

const digits = 12
/** A number as a part of a key: padded, so that texts sort as numbers do. */
export const numberPart = (number: number): string => String(number).padStart(digits, '0')

/** When a root is over, milliseconds: ended, or past its expiry. */
export const rootOverMs = ({ expires_at, ended }: Root): number =>
  Math.min(msFromIso(expires_at), ended === null ? Infinity : msFromIso(ended.at))

export const rootsByToken: Index<Root> = {
  name: 'token', parts: 1, keysOf: ({ token_digest: digest }) => [[digest]],
}
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

export const goalsByOwner: Index<Goal> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
export const goalsDefault: Index<Goal> = {
  name: 'default', parts: 1,
  keysOf: ({ owner, is_default: isDefault }) => (isDefault ? [[owner]] : []),
}

/** Consents to a purpose, by the revision that granted them. */
export const consentsByPurpose: Index<Consent> = {
  name: 'purpose', parts: 2,
  keysOf: ({ purpose, granted_revision: revision }) => [[purpose, numberPart(revision)]],
}
export const consentsByState: Index<Consent> = {
  name: 'state', parts: 1, keysOf: ({ state }) => [[state]],
}

/** Saves that have not ended. */
export const intentsOpen: Index<SaveIntent> = {
  name: 'open', parts: 1, keysOf: ({ route, ended_at: at }) => (at === null ? [[route]] : []),
}

export const reservationsByState: Index<Reservation> = {
  name: 'state', parts: 1, keysOf: ({ state }) => [[state]],
}
/** Reservations by what a person has to say of an overrun. */
export const reservationsByOverrun: Index<Reservation> = {
  name: 'overrun', parts: 1, keysOf: ({ overrun }) => (overrun === 'none' ? [] : [[overrun]]),
}
export const reservationsByOwner: Index<Reservation> = {
  name: 'owner', parts: 1, keysOf: ({ principal }) => [[principal]],
}

export const tasksByState: Index<Task> = {
  name: 'state', parts: 1, keysOf: ({ state }) => [[state]],
}
export const tasksByOwner: Index<Task> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
export const tasksByKind: Index<Task> = {
  name: 'owner_kind', parts: 2, keysOf: ({ owner, kind }) => [[owner, kind]],
}
export const tasksByOwnState: Index<Task> = {
  name: 'owner_state', parts: 2, keysOf: ({ owner, state }) => [[owner, state]],
}
export const tasksByGoal: Index<Task> = {
  name: 'owner_goal', parts: 2, keysOf: ({ owner, goal_id: goal }) => [[owner, goal]],
}
/** Finished tasks of an owner whose result waits for a review. */
export const tasksToReview: Index<Task> = {
  name: 'to_review', parts: 1,
  keysOf: ({ owner, review }) => (review === 'pending' ? [[owner]] : []),
}

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

const one = <T>(
  name: string, schema: v.GenericSchema<T>, indexes: readonly Index<T>[] = [],
): CollectionSpec<T> => ({ name, schema, partition: 'one', indexes })
const many = <T>(
  name: string, schema: v.GenericSchema<T>, indexes: readonly Index<T>[] = [],
): CollectionSpec<T> => ({ name, schema, partition: 'hash256', indexes })

const tasksIndexes = [tasksByOwner, tasksByKind, tasksByOwnState, tasksByGoal]

/** Collections by name. Document ids: the row's own id; single documents use id `the`. */
export const collections = {
  principals: one<Principal>('principals', principalShape),
  /** Whom `init` made; absent in stores of programs that did not say. */
  defaults: one('defaults', defaultsShape),
  roots: one<Root>('roots', rootShape, [
    rootsByToken, rootsByOwner, rootsUnended, rootsByEnd, rootsByTail,
  ]),
  /** Sessions that the sweep at login took from the list, since other rows name them. */
  pastRoots: one<Root>('roots_past', rootShape),
  goals: one<Goal>('goals', goalShape, [goalsByOwner, goalsDefault, goalsByTail]),
  consents: one<Consent>('consents', consentShape, [consentsByPurpose, consentsByState]),
  /** Ids: revision padded to 12 digits. */
  policy: one<PolicyRevision>('policy', policyShape),
  policyHead: one('policy_head', policyHeadShape),
  /** Which route may set the one ceiling to another value; absent until a set-up. */
  ceilingOwner: one('ceiling_owner', ceilingOwnerShape),
  saveIntents: one<SaveIntent>('save_intents', saveIntentShape, [intentsOpen]),
  credentials: one<Credential>('credentials', credentialShape),
  ledgerAccounts: one<LedgerAccount>('ledger_accounts', ledgerAccountShape),
  ledgerRows: many<LedgerRow>('ledger_rows', ledgerRowShape, [ledgerByTail]),
  /** Reservations that hold money or need a person (reserved, contacted, unknown, overrun). */
  openReservations: one<Reservation>('reservations_open', reservationShape, [
    reservationsByState, reservationsByOverrun, reservationsByOwner,
  ]),
  closedReservations: many<Reservation>(
    'reservations_closed', reservationShape, [reservationsByOwner],
  ),
  /** Tasks that are prepared, accepted, queued, running or blocked. */
  openTasks: one<Task>('tasks_open', taskShape, [...tasksIndexes, tasksByState]),
  closedTasks: many<Task>('tasks_closed', taskShape, [...tasksIndexes, tasksToReview]),
  jobs: many<Job>('jobs', jobShape, [jobsByTaskTail]),
  artifacts: many<ArtifactRow>('artifacts', artifactRowShape),
  decisions: many<TrustDecision>('decisions', decisionShape, [decisionsByOperation]),
  audit: many<AuditRow>('audit', auditShape, [
    auditByNumber, auditByName, auditByPrincipal, auditByTime, auditByTail,
  ]),
  auditHead: one('audit_head', auditHeadShape),
  /** Stops that were recorded, by their ids. */
  stops: many<RecordedStop>('stops', recordedStopShape),
  stopHead: one<StopHead>('stops_head', stopHeadShape),
  /** At most one outstanding operation per owner, kind and place. Ids: see `slotId`. */
  ownerSlots: one('owner_slots', ownerSlotShape),
  /** Idempotency keys, global to the store. */
  idempotency: many<UsedKey>('idempotency', keyShape),
  /** Tombstones of tasks, one for each prune that removed some. */
  taskPrunes: one<TaskPrune>('tasks_pruned', taskPruneShape),
  /** Ranges of keys that damage took. Ids: see `carryKeys`. */
  lostKeys: one<LostKeys>('idempotency_lost', lostKeysShape),
  /** Absent until the service was started once. */
  service: one<ServiceRow>('service', serviceShape),
} as const

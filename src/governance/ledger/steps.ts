/**
 * The steps of one operation's money, in the order they are taken: reserve, recheck, contact, and
 * one of the three ends, settle, release or unknown, each at most once. Each
 * replays the operation's rows and refuses another runtime, profile or operation.
 */
import { moneyText } from '../../base/money.js'
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import { collections, runtimeShape, type LedgerRow, type Reservation } from '../rows.js'
import { requireAccount } from './account.js'
import { ceilingNext } from './due.js'
import {
  amountMicrousdMax, checkAmount, checkName, rechecksPerOperationMax,
} from './ledger-limits.js'
import { manualSource, subjectPart, type ReleaseProof } from './machine.js'
import { checkEvidence, post, requireBound, type Binding, type Posted } from './post.js'
import { consumedOf, findReservation } from './find-reservation.js'

/** A hold to be taken before anyone is contacted. */
export interface ReserveRequest extends Binding {
  readonly taskId: string | null
  /** Principal id of the owner who pays. */
  readonly principal: string
  /** Id of what it is about, where that is one thing and no task. */
  readonly subject?: string | undefined
  /** Full liability of the operation, 1..1_000_000_000 micro-USD. */
  readonly bound: number
}

/** A hold; `replayed` when the same request had taken it before. */
interface Reserved {
  readonly row: LedgerRow
  readonly reservation: Reservation
  readonly replayed: boolean
}

const checkRequest = (request: ReserveRequest): void => {
  checkName('operation_id', request.operationId)
  checkName('profile', request.profile)
  checkName('principal', request.principal)
  if (request.taskId !== null) checkName('task_id', request.taskId)
  if (request.subject !== undefined) checkName('subject', request.subject)
  checkAmount('request_cost_bound', request.bound, 1, amountMicrousdMax)
  if (!v.is(runtimeShape, request.runtime)) {
    throw fail.rejected('runtime_unknown', 'The runtime is not named as a runtime is.')
  }
}

const replay = (tx: Tx, request: ReserveRequest, existing: Reservation): Reserved => {
  const same = existing.runtime === request.runtime && existing.profile === request.profile
    && existing.task_id === request.taskId && existing.principal === request.principal
    && existing.bound_microusd === request.bound
  if (!same) {
    throw fail.conflict(
      'operation_id_reused', 'This operation id already holds a reservation of other content.',
      { details: { operation_id: request.operationId } },
    )
  }
  const reservation = requireBound(tx, request)
  const row = tx.get(collections.ledgerRows, reservation.row_ids[0] ?? '')
  if (!row) throw fail.damaged('ledger_row_missing', 'A reservation names a row that is missing.')
  return { row, reservation, replayed: true }
}

/**
 * Takes a local admission hold of `bound` under the one ceiling (A-164: it is no maximum that a
 * vendor enforces). Dangling holds of dead operations count. The same id with the same content
 * answers with the first hold, in whatever state it is by now; with other content it is `conflict`
 * `operation_id_reused`. Throws `budget` `ceiling_exceeded` with ceiling, consumed and bound.
 */
export const reserve = (tx: Tx, now: string, request: ReserveRequest): Reserved => {
  checkRequest(request)
  const existing = findReservation(tx, request.operationId)
  if (existing) return replay(tx, request, existing)
  const account = requireAccount(tx)
  const consumed = consumedOf(account)
  if (consumed + request.bound > account.ceiling_microusd) {
    throw fail.budget(
      'ceiling_exceeded',
      `The bound of ${moneyText(request.bound)} on top of ${moneyText(consumed)} passes the `
        + `ceiling of ${moneyText(account.ceiling_microusd)}.`,
      {
        next: ceilingNext(tx, request.principal),
        details: { ceiling: account.ceiling_microusd, consumed, bound: request.bound },
      },
    )
  }
  const posted = post(tx, now, request, undefined, {
    kind: 'reserve',
    amount_microusd: request.bound,
    evidence: { task_id: request.taskId, principal: request.principal, ...subjectPart(request) },
  })
  return { ...posted, replayed: false }
}

/**
 * Writes that this operation is about to be sent. Only a reservation in state `reserved` can be
 * contacted, and only once: a second call is `conflict`, so nothing is ever sent again. The caller
 * marks the transaction and contacts nobody before it is durable.
 */
export const markContacted = (tx: Tx, now: string, binding: Binding): Posted => {
  const reservation = requireBound(tx, binding)
  return post(tx, now, binding, reservation, {
    kind: 'contact', amount_microusd: reservation.bound_microusd, evidence: null,
  })
}

/**
 * Writes that the current policy was read again for this operation and still allowed it.
 * Moves no money. At most 16 for one operation.
 */
export const recheckRow = (
  tx: Tx, now: string, binding: Binding & { readonly policyRevision: number },
): Posted => {
  const reservation = requireBound(tx, binding)
  const earlier = reservation.row_ids
    .filter((id) => tx.get(collections.ledgerRows, id)?.kind === 'recheck')
  if (earlier.length >= rechecksPerOperationMax) {
    throw fail.conflict(
      'rechecks_exhausted', `An operation is rechecked at most ${rechecksPerOperationMax} times.`,
    )
  }
  const { operationId, runtime, profile, policyRevision } = binding
  return post(tx, now, { operationId, runtime, profile }, reservation, {
    kind: 'recheck',
    amount_microusd: reservation.bound_microusd,
    evidence: { policy_revision: policyRevision },
  })
}

/** Typed billing evidence: closed and described by its capability, here only bound and bounded. */
export type Evidence = Readonly<Record<string, unknown>> & { readonly source: string }

/**
 * What the charges of a capability may rest on, by the name of the evidence source. `usage`: the
 * evidence may speak of usage or tokens; a bill never does.
 */
export type ChargeSources = Readonly<Record<string, { readonly usage: boolean }>>

/** A charge that is known. */
export interface Settlement extends Binding {
  /** The capability's own, beside its runtime: no other source settles its money. */
  readonly sources: ChargeSources
  /** Integer micro-USD from 0; recorded whole, also above the bound or the ceiling. */
  readonly chargedMicrousd: number
  readonly evidence: Evidence
}

/** What settling gave. `overrun`: the charge passed its bound, a person has to review it. */
interface Settled {
  readonly overrun: boolean
  readonly row: LedgerRow
  readonly reservation: Reservation
}

const imitation = (message: string): never => {
  throw fail.rejected('evidence_source_refused', message)
}

/** Billing evidence must be what it says it is. */
const checkSource = (settlement: Settlement): void => {
  const { evidence, sources, operationId } = settlement
  if (typeof evidence.source !== 'string') imitation('Billing evidence must name its source.')
  checkName('evidence_source', evidence.source)
  if (evidence.source === manualSource) {
    imitation('Billing evidence never names the source of a manual settlement.')
  }
  const own = Object.hasOwn(sources, evidence.source) ? sources[evidence.source] : undefined
  if (own === undefined) imitation('This runtime settles nothing from such a source.')
  if (own?.usage !== true && Object.keys(evidence).some((key) => /usage|token/i.test(key))) {
    imitation('Evidence of this source never speaks of usage or tokens.')
  }
  const bound = evidence['operation_id']
  if (bound !== undefined && bound !== operationId) {
    throw fail.blocked(
      'reservation_binding_mismatch', 'The billing evidence belongs to another operation.',
      { reason: 'reservation_binding_mismatch', details: { operation_id: operationId } },
    )
  }
}

/**
 * Records a known charge in place of the hold. Only a contacted reservation settles. Above the
 * bound the reservation waits for `reviewOverrun`; a charge equal to the bound does not.
 */
export const settle = (tx: Tx, now: string, settlement: Settlement): Settled => {
  checkAmount('charge', settlement.chargedMicrousd, 0, Number.MAX_SAFE_INTEGER)
  checkSource(settlement)
  const reservation = requireBound(tx, settlement)
  const { operationId, runtime, profile } = settlement
  const posted = post(tx, now, { operationId, runtime, profile }, reservation, {
    kind: 'settle',
    amount_microusd: settlement.chargedMicrousd,
    evidence: checkEvidence(settlement.evidence),
  })
  return { ...posted, overrun: posted.reservation.overrun === 'review_required' }
}

/**
 * Gives the hold back. A reservation that was never marked contacted takes either proof; one that
 * was takes only `no_request_byte_sent`, which the HTTPS client alone can give. Anything else must
 * become unknown.
 */
export const release = (
  tx: Tx, now: string, request: Binding & { readonly proof: ReleaseProof },
): Posted => {
  const reservation = requireBound(tx, request)
  const { operationId, runtime, profile, proof } = request
  return post(tx, now, { operationId, runtime, profile }, reservation, {
    kind: 'release', amount_microusd: reservation.bound_microusd, evidence: { proof },
  })
}

/**
 * Turns the hold into an unknown charge: the full bound stays consumed until a person settles it
 * . Also legal before contact, for a store that may have forgotten a contact (restore).
 * `reason` is a snake_case code.
 */
export const markUnknown = (
  tx: Tx, now: string, request: Binding & { readonly reason: string },
): Posted => {
  checkName('reason', request.reason)
  const reservation = requireBound(tx, request)
  const { operationId, runtime, profile, reason } = request
  return post(tx, now, { operationId, runtime, profile }, reservation, {
    kind: 'unknown', amount_microusd: reservation.bound_microusd, evidence: { reason },
  })
}

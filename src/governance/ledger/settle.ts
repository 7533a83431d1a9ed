/** The three ends of a contacted operation's money, each at most once. */
import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import type { LedgerRow, Reservation } from '../rows.js'
import { checkAmount, checkName } from './limits.js'
import { manualSource, type ReleaseProof } from './machine.js'
import { checkEvidence, post, requireBound, type Binding, type Posted } from './post.js'

/** Source of a charge that the gateway reported with its reply; only its own runtime may use it. */
export const gatewayUsageSource = 'gateway_usage'

/** Typed billing evidence: closed and described by its capability, here only bound and bounded. */
export type Evidence = Readonly<Record<string, unknown>> & { readonly source: string }

/** A charge that is known. */
export interface Settlement extends Binding {
  /** Integer micro-USD from 0; recorded whole, also above the bound or the ceiling. */
  readonly chargedMicrousd: number
  readonly evidence: Evidence
}

/** What settling gave. `overrun`: the charge passed its bound, a person has to review it. */
export interface Settled {
  readonly overrun: boolean
  readonly row: LedgerRow
  readonly reservation: Reservation
}

const imitation = (message: string): never => {
  throw fail.rejected('evidence_source_refused', message)
}

/** Billing evidence must be what it says it is. */
const checkSource = (settlement: Settlement): void => {
  const { evidence, runtime, operationId } = settlement
  if (typeof evidence.source !== 'string') imitation('Billing evidence must name its source.')
  checkName('evidence_source', evidence.source)
  if (evidence.source === manualSource) {
    imitation('Billing evidence never names the source of a manual settlement.')
  }
  const usage = evidence.source === gatewayUsageSource
    || Object.keys(evidence).some((key) => /usage|token/i.test(key))
  if (usage && runtime !== 'gateway_route') {
    imitation('Only the gateway route settles from gateway usage.')
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

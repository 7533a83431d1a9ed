/** What the receipts of every capability say of a contact, read off the rows of its operation. */
import * as v from 'valibot'
import { digestOf } from '../base/canonical.js'
import { findReservation } from '../governance/ledger/find-reservation.js'
import { policyAt, policyHead } from '../governance/policy/head.js'
import { collections, type LedgerRow, type Reservation } from '../governance/rows.js'
import type { View } from '../state/types.js'
import { routeOf, type RouteRecord } from './routes.js'

/** What is claimed of the transport, and what is not: entries of a strict object. */
export const transportEntries = {
  tls_transport: v.literal(true),
  tee_verified: v.literal(false),
  e2ee: v.literal(false),
} as const

/** The same as values. */
export const transportClaims = { tls_transport: true, tee_verified: false, e2ee: false } as const

/** The rows of an operation that a receipt tells of. */
export interface ReceiptBase {
  /** Null when no contact was prepared. */
  readonly route: RouteRecord | null
  readonly reservation: Reservation | null
  /** The newest row of its money; null when nothing was ever held. */
  readonly lastRow: LedgerRow | null
  /** The `settle` or `manual_settle` row, once there is one. */
  readonly settlement: LedgerRow | null
  /** The revision that the contact rested on, with its canonical digest. */
  readonly policy: { readonly revision: number; readonly sha256: string }
}

export const receiptBase = (view: View, operationId: string): ReceiptBase => {
  const route = routeOf(view, operationId) ?? null
  const reservation = findReservation(view, operationId) ?? null
  const rows = (reservation?.row_ids ?? [])
    .map((id) => view.get(collections.ledgerRows, id))
    .filter((row) => row !== undefined)
  const policy = (route && policyAt(view, route.policy_revision)) ?? policyHead(view)
  return {
    route,
    reservation,
    lastRow: rows.at(-1) ?? null,
    settlement: rows.findLast(({ kind }) => kind === 'settle' || kind === 'manual_settle') ?? null,
    policy: { revision: policy.revision, sha256: digestOf(policy) },
  }
}

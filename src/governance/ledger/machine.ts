/**
 * The rules of the ledger as one pure function over one row: what a step does to its reservation
 * and to the three totals. Writing a step and verifying the stored rows both go through it, so
 * they cannot come to differ. Invariants:
 * - consumed = settled + held + unknown; only settle, manual_settle and release take a hold away;
 * - `unknown` keeps the full bound; a charge is recorded whole, also above bound or ceiling;
 * - every row of an operation carries the runtime and profile of its reserve row.
 */
import type { LedgerRow, Reservation } from '../rows.js'

/** Settlement source of a person; no billing evidence may use it. */
export const manualSource = 'operator_manual'

/** What gives a hold back: nothing may have left this machine. */
const releaseProofs = ['never_contacted', 'no_request_byte_sent'] as const
export type ReleaseProof = (typeof releaseProofs)[number]

/** Change of the three totals, micro-USD, signed. */
export interface Delta {
  readonly settled: number
  readonly held: number
  readonly unknown: number
}

interface Step {
  readonly reservation: Reservation
  readonly delta: Delta
}

/** Why a row cannot follow: `binding` = another operation's money, `order` = illegal here. */
export type Refusal = 'binding' | 'order' | 'malformed'

const none: Delta = { settled: 0, held: 0, unknown: 0 }

/** A text member of a row's evidence; undefined when it is missing or not text. */
export const evidenceText = (row: LedgerRow, key: string): string | undefined => {
  const value = row.evidence?.[key]
  return typeof value === 'string' ? value : undefined
}

/** The part of a reserve row's evidence that says what the money is for. */
export const subjectPart = (
  { subject }: { readonly subject?: string | undefined },
): { readonly subject?: string } => (subject === undefined ? {} : { subject })

const reserveStep = (row: LedgerRow): Step | Refusal => {
  const principal = evidenceText(row, 'principal')
  const task = row.evidence?.['task_id']
  if (row.runtime === null || row.profile === null || principal === undefined) return 'malformed'
  if (task !== null && typeof task !== 'string') return 'malformed'
  if (row.amount_microusd < 1) return 'malformed'
  return {
    reservation: {
      operation_id: row.operation_id,
      runtime: row.runtime,
      profile: row.profile,
      task_id: task,
      principal,
      ...subjectPart({ subject: evidenceText(row, 'subject') }),
      bound_microusd: row.amount_microusd,
      state: 'reserved',
      charged_microusd: null,
      overrun: 'none',
      row_ids: [row.row_id],
      updated_at: row.created_at,
    },
    delta: { settled: 0, held: row.amount_microusd, unknown: 0 },
  }
}

const charge = (before: Reservation, row: LedgerRow, from: 'held' | 'unknown'): Step => ({
  reservation: {
    ...before,
    state: 'settled',
    charged_microusd: row.amount_microusd,
    overrun: row.amount_microusd > before.bound_microusd ? 'review_required' : 'none',
  },
  delta: { ...none, settled: row.amount_microusd, [from]: -before.bound_microusd },
})

const verdicts = { accept: 'accepted', reject: 'rejected' } as const

const reviewStep = (before: Reservation, row: LedgerRow): Step | Refusal => {
  const verdict = evidenceText(row, 'verdict')
  if (before.overrun !== 'review_required') return 'order'
  if (verdict !== 'accept' && verdict !== 'reject') return 'malformed'
  if (row.amount_microusd !== before.charged_microusd) return 'malformed'
  return { reservation: { ...before, overrun: verdicts[verdict] }, delta: none }
}

const releaseStep = (before: Reservation, row: LedgerRow): Step | Refusal => {
  const needed: Partial<Record<Reservation['state'], readonly string[]>> = {
    reserved: releaseProofs,
    contacted: ['no_request_byte_sent'],
  }
  const proofs = needed[before.state]
  const proof = evidenceText(row, 'proof')
  if (!proofs) return 'order'
  if (proof === undefined || !proofs.includes(proof)) return 'order'
  return {
    reservation: { ...before, state: 'released' },
    delta: { ...none, held: -before.bound_microusd },
  }
}

const settleStep = (before: Reservation, row: LedgerRow): Step | Refusal => {
  const source = evidenceText(row, 'source')
  if (before.state !== 'contacted') return 'order'
  if (!source || source === manualSource) return 'malformed'
  return charge(before, row, 'held')
}

const manualStep = (before: Reservation, row: LedgerRow): Step | Refusal => {
  if (before.state !== 'unknown') return 'order'
  if (evidenceText(row, 'source') !== manualSource) return 'malformed'
  return charge(before, row, 'unknown')
}

const unknownStep = (before: Reservation): Step | Refusal => {
  if (before.state !== 'contacted' && before.state !== 'reserved') return 'order'
  const { bound_microusd: bound } = before
  return {
    reservation: { ...before, state: 'unknown' },
    delta: { settled: 0, held: -bound, unknown: bound },
  }
}

const recheckable: readonly Reservation['state'][] = ['reserved', 'contacted', 'settled']

/** Kinds whose amount is no charge: they repeat the bound, so that a row can be read alone. */
const boundKinds: readonly LedgerRow['kind'][] = ['contact', 'recheck', 'release', 'unknown']

const laterStep = (before: Reservation, row: LedgerRow): Step | Refusal => {
  if (boundKinds.includes(row.kind) && row.amount_microusd !== before.bound_microusd) {
    return 'malformed'
  }
  switch (row.kind) {
    case 'contact':
      if (before.state !== 'reserved') return 'order'
      return { reservation: { ...before, state: 'contacted' }, delta: none }
    case 'recheck':
      return recheckable.includes(before.state) ? { reservation: before, delta: none } : 'order'
    case 'settle': return settleStep(before, row)
    case 'release': return releaseStep(before, row)
    case 'unknown': return unknownStep(before)
    case 'manual_settle': return manualStep(before, row)
    case 'overrun_review': return reviewStep(before, row)
    default: return 'order'
  }
}

/**
 * Applies one row to the reservation before it (undefined before the first). A `ceiling` row
 * belongs to no operation and is refused here. Pure.
 */
export const applyRow = (before: Reservation | undefined, row: LedgerRow): Step | Refusal => {
  if (row.kind === 'reserve') return before === undefined ? reserveStep(row) : 'order'
  if (before === undefined) return 'order'
  const same = row.operation_id === before.operation_id
    && row.runtime === before.runtime && row.profile === before.profile
  if (!same) return 'binding'
  const step = laterStep(before, row)
  if (typeof step === 'string') return step
  const { reservation, delta } = step
  const row_ids = [...before.row_ids, row.row_id]
  return { reservation: { ...reservation, row_ids, updated_at: row.created_at }, delta }
}

/** Whether a reservation still holds money or waits for a person. */
export const isOpen = (reservation: Reservation): boolean =>
  reservation.state === 'reserved' || reservation.state === 'contacted'
  || reservation.state === 'unknown' || reservation.overrun === 'review_required'

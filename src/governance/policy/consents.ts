/**
 * Consents by purpose. A consent is current only while it is granted, bound to the current active
 * witnessed revision, granted after the last global revocation, not expired, and whoever gave it is
 * not disabled. Publication alone moves the binding forward. Other owners
 * rest on it only once they have acknowledged it themselves.
 */
import { newId } from '../../base/ids.js'
import { msFromIso } from '../../base/clock.js'
import { rowsUnder } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import {
  collections, consentsByPurpose, consentsByState, type Consent, type RouteName,
} from '../rows.js'
import { noteNamed } from '../session/named.js'
import type { PolicyStatus } from './policy-status.js'

/** One purpose that the operator acknowledged in this save. */
export interface ConsentGrant {
  readonly purpose: string
  /** SHA-256 of the exact text that was shown. */
  readonly statementSha256: string
  readonly expiresAt: string | null
}

/**
 * The newest consent of a purpose, current or not: by the revision that granted it, because ids
 * follow the wall clock, which may have stepped back in between.
 */
export const latestConsent = (view: View, purpose: string): Consent | undefined =>
  rowsUnder(view, collections.consents, consentsByPurpose, {
    under: [purpose], reverse: true, limit: 1,
  })[0]?.doc

/** Consents that were given and not ended, expired ones too. */
const grantedConsents = (view: View) =>
  rowsUnder(view, collections.consents, consentsByState, { under: ['granted'] })

const isExpired = (consent: Consent, nowMs: number): boolean =>
  consent.expires_at !== null && msFromIso(consent.expires_at) <= nowMs

/** Who gave a consent, as far as reads tell it. */
export interface Giver {
  readonly principal_id: string
  /** Null where the store knows no such owner any more. */
  readonly name: string | null
  readonly disabled: boolean
}

export const giverOf = (view: View, { principal }: Pick<Consent, 'principal'>): Giver => {
  const row = view.get(collections.principals, principal)
  return {
    principal_id: principal, name: row?.name ?? null, disabled: (row?.disabled_at ?? null) !== null,
  }
}

/** Principal ids of whoever gave the newest consents to these purposes. */
export const giversOf = (view: View, purposes: readonly string[]): readonly string[] =>
  purposes.flatMap((purpose) => latestConsent(view, purpose)?.principal ?? [])

/**
 * Why a consent authorizes nothing now. `suspended`: a save is under way or was interrupted, and
 * the publication that ends it would carry this consent over; nothing may be sent on it meanwhile,
 * and nothing that it paid for is lost.
 */
export type ConsentLapse =
  'not_current' | 'expired' | 'giver_missing' | 'giver_disabled' | 'suspended'

/** Policy blocks that end by themselves or by the next save, without taking a consent away. */
const isSuspending = ({ block }: PolicyStatus): boolean =>
  block === 'save_in_progress' || block === 'save_interrupted'

/**
 * How a consent stands, by the one rule of every route: granted after the last global revocation,
 * unexpired, given by an owner who is not disabled, and bound to the newest revision. Null: it
 * authorizes its purpose wherever the policy itself is usable, which is judged beside it.
 */
export const consentLapse = (
  view: View, standing: PolicyStatus, consent: Consent | undefined, nowMs: number,
): ConsentLapse | null => {
  const { head } = standing
  if (consent?.state !== 'granted' || consent.granted_revision <= head.fence) return 'not_current'
  if (isExpired(consent, nowMs)) return 'expired'
  const giver = giverOf(view, consent)
  if (giver.name === null) return 'giver_missing'
  if (giver.disabled) return 'giver_disabled'
  if (consent.bound_revision === head.revision) return null
  const carried = isSuspending(standing) && consent.bound_revision === head.carries_from
  return carried ? 'suspended' : 'not_current'
}

/** The consent that authorizes a purpose now, or undefined. */
export const currentConsent = (
  view: View, standing: PolicyStatus, purpose: string, nowMs: number,
): Consent | undefined => {
  const consent = standing.usable ? latestConsent(view, purpose) : undefined
  return consentLapse(view, standing, consent, nowMs) === null ? consent : undefined
}

/** Whether an owner has acknowledged this very consent, in the words of today. */
export const hasAcknowledged = (
  consent: Consent | undefined, owner: string, statementSha256: string,
): boolean =>
  consent?.acknowledgments.some((one) =>
    one.owner === owner && one.statement_sha256 === statementSha256) === true

/** Writes the acknowledgment of one owner; an earlier one of the same owner is replaced. */
export const acknowledgeConsent = (
  tx: Tx, now: string, consent: Consent,
  by: { readonly owner: string; readonly statementSha256: string },
): Consent => {
  if (hasAcknowledged(consent, by.owner, by.statementSha256)) return consent
  const others = consent.acknowledgments.filter(({ owner }) => owner !== by.owner)
  const mine = { owner: by.owner, statement_sha256: by.statementSha256, at: now }
  const next: Consent = { ...consent, acknowledgments: [...others, mine] }
  tx.put(collections.consents, consent.consent_id, next)
  return next
}

/** Moves the consents of one state that `match` picks to another; answers how many. */
export const endConsents = (
  tx: Tx, from: Consent['state'], state: 'revoked' | 'cleared' | 'withdrawn',
  match: (consent: Consent) => boolean = () => true,
): number => {
  const picked = rowsUnder(tx, collections.consents, consentsByState, { under: [from] })
    .filter(({ doc }) => match(doc))
  for (const { id, doc } of picked) tx.put(collections.consents, id, { ...doc, state })
  return picked.length
}

/** Ends what an owner consented to, and what it acknowledged of others; answers how many. */
export const endAgreementsOf = (tx: Tx, owner: string): number => {
  const given = endConsents(tx, 'granted', 'withdrawn', ({ principal }) => principal === owner)
  const acknowledged = grantedConsents(tx).filter(({ doc }) =>
    doc.acknowledgments.some((one) => one.owner === owner))
  for (const { id, doc } of acknowledged) {
    const others = doc.acknowledgments.filter((one) => one.owner !== owner)
    tx.put(collections.consents, id, { ...doc, acknowledgments: others })
  }
  return given + acknowledged.length
}

/** A publication carries no consent that has expired or whose giver is disabled. */
const standsFor = (tx: Tx, consent: Consent, nowMs: number): boolean => {
  const giver = giverOf(tx, consent)
  return giver.name !== null && !giver.disabled && !isExpired(consent, nowMs)
}

/**
 * Binds to revision `to` every consent that was current at `from` and whose purpose is not in
 * `dropped`; a dropped one is withdrawn. Nothing that was not current becomes so.
 */
export const carryOver = (
  tx: Tx, nowMs: number, from: number | null, to: number, dropped: ReadonlySet<string>,
): void => {
  for (const { id, doc } of grantedConsents(tx)) {
    if (dropped.has(doc.purpose)) {
      tx.put(collections.consents, id, { ...doc, state: 'withdrawn' })
    } else if (from !== null && doc.bound_revision === from && standsFor(tx, doc, nowMs)) {
      tx.put(collections.consents, id, { ...doc, bound_revision: to })
    }
  }
}

/** Writes a new consent, granted at and bound to `revision`, and ends the purpose's older one. */
export const grantConsent = (
  tx: Tx,
  now: string,
  grant: ConsentGrant,
  by: { route: RouteName; revision: number; principal: string; root: string },
): Consent => {
  endConsents(tx, 'granted', 'withdrawn', (old) => old.purpose === grant.purpose)
  const consent: Consent = {
    consent_id: newId('con'),
    route: by.route,
    purpose: grant.purpose,
    state: 'granted',
    granted_revision: by.revision,
    bound_revision: by.revision,
    principal: by.principal,
    root: by.root,
    granted_at: now,
    expires_at: grant.expiresAt,
    statement_sha256: grant.statementSha256,
    acknowledgments: [{ owner: by.principal, statement_sha256: grant.statementSha256, at: now }],
  }
  tx.put(collections.consents, consent.consent_id, consent)
  noteNamed(tx, by.root)
  return consent
}

/** What a policy row lists: the consents bound to its revision. */
export const boundConsents = (
  view: View, revision: number,
): { consent_id: string; purpose: string }[] =>
  grantedConsents(view)
    .filter(({ doc }) => doc.bound_revision === revision)
    .map(({ doc }) => ({ consent_id: doc.consent_id, purpose: doc.purpose }))

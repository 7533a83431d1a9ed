/**
 * Consents by purpose. A consent is current only while it is granted, bound to the current active
 * witnessed revision, granted after the last global revocation and not expired. Publication alone
 * moves the binding forward.
 */
import { newId } from '../../base/ids.js'
import { msFromIso } from '../../base/clock.js'
import type { Tx, View } from '../../state/types.js'
import { collections, type Consent, type RouteName } from '../rows.js'
import type { PolicyStanding } from './standing.js'

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
  view.all(collections.consents)
    .map(({ doc }) => doc)
    .filter((doc) => doc.purpose === purpose)
    .sort((a, b) => a.granted_revision - b.granted_revision)
    .at(-1)

const isExpired = (consent: Consent, nowMs: number): boolean =>
  consent.expires_at !== null && msFromIso(consent.expires_at) <= nowMs

/** The consent that authorizes a purpose now, or undefined. */
export const currentConsent = (
  view: View, standing: PolicyStanding, purpose: string, nowMs: number,
): Consent | undefined => {
  const consent = latestConsent(view, purpose)
  if (!consent || !standing.usable) return undefined
  const current = consent.state === 'granted'
    && consent.bound_revision === standing.head.revision
    && consent.granted_revision > standing.head.fence
    && !isExpired(consent, nowMs)
  return current ? consent : undefined
}

/** Ends the granted consents that `match` picks. */
export const endConsents = (
  tx: Tx, state: 'revoked' | 'cleared' | 'withdrawn', match: (consent: Consent) => boolean,
): void => {
  for (const { id, doc } of tx.all(collections.consents)) {
    if (match(doc)) tx.put(collections.consents, id, { ...doc, state })
  }
}

/**
 * Binds to revision `to` every consent that was current at `from` and whose purpose is not in
 * `dropped`; a dropped one is withdrawn. Nothing that was not current becomes so.
 */
export const carryOver = (
  tx: Tx, nowMs: number, from: number | null, to: number, dropped: ReadonlySet<string>,
): void => {
  for (const { id, doc } of tx.all(collections.consents)) {
    if (doc.state !== 'granted') continue
    if (dropped.has(doc.purpose)) {
      tx.put(collections.consents, id, { ...doc, state: 'withdrawn' })
    } else if (from !== null && doc.bound_revision === from && !isExpired(doc, nowMs)) {
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
  endConsents(tx, 'withdrawn', (old) => old.purpose === grant.purpose && old.state === 'granted')
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
  }
  tx.put(collections.consents, consent.consent_id, consent)
  return consent
}

/** What a policy row lists: the consents bound to its revision. */
export const boundConsents = (
  view: View, revision: number,
): { consent_id: string; purpose: string }[] =>
  view.all(collections.consents)
    .filter(({ doc }) => doc.state === 'granted' && doc.bound_revision === revision)
    .map(({ doc }) => ({ consent_id: doc.consent_id, purpose: doc.purpose }))

/** Why whoever gave a consent carries nothing any more; null while they do. */
export type GiverReason = 'principal_missing' | 'principal_disabled'

/** The same look at a person that the trust evaluation of a call takes. */
export const giverReasonOf = (
  view: View, consent: Pick<Consent, 'principal'>,
): GiverReason | null => {
  const giver = view.get(collections.principals, consent.principal)
  if (giver === undefined) return 'principal_missing'
  return giver.disabled_at === null ? null : 'principal_disabled'
}

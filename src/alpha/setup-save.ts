/**
 * The save of this route. What it changes is decided by `planSetupChange` on the rows at r, under
 * the lock; governance publishes r+1 and r+2 around it (see policy/save.ts).
 */
import { fail } from '../base/errors.js'
import { ceilingOwner } from '../governance/policy/ceiling.js'
import type { Gov, Session } from '../governance/context.js'
import { momentOf } from '../governance/judge/moment.js'
import { publishSave, type SaveDecision } from '../governance/policy/save.js'
import {
  voidsNothing, voidsOf, type AcceptedVoids, type SaveVoids,
} from '../governance/policy/voids.js'
import { collections, reservationsByState } from '../governance/rows.js'
import { requestsDocument } from '../governance/stops/requests.js'
import { fingerprintOf, noKeyStored, usableFingerprint } from '../governance/vault.js'
import { rowsUnder } from '../state/indexes.js'
import type { Tx, View } from '../state/types.js'
import { isBlankKey } from './api-key.js'
import { alphaConsentStatement } from './consent-text.js'
import {
  alphaCredentialRef, alphaPurpose, alphaRouteName, alphaRuntime, type AlphaProvider,
} from './constants.js'
import { projectAlpha, type AlphaShow } from './projection.js'
import { alphaFacts, isConsentCurrent } from './readiness.js'
import {
  alphaSetupCollection, alphaSetupId, planSetupChange, requireSaveAuthority, type AlphaTextSetup,
  type AlphaTextSetupInput, type SetupPlan,
} from './setup.js'

/** A save request, already parsed strictly. */
export interface AlphaSave {
  readonly input: AlphaTextSetupInput
  readonly expectedPolicyRevision: number | null
  /** Paid results that whoever saves gives up. */
  readonly accepts?: AcceptedVoids | undefined
  /** Takes the key out of the vault; the input says nothing but that the route is disabled. */
  readonly removesKey?: boolean
}

/**
 * A question that was sent reads its bill with the key that it was sent with. What is unknown by
 * now nobody reads back any more, and what is known waits for a person alone.
 */
const requireReadBack = (view: View): void => {
  const open = rowsUnder(view, collections.openReservations, reservationsByState, {
    under: ['contacted'],
  }).filter(({ doc }) => doc.runtime === alphaRuntime)
  if (open.length === 0) return
  throw fail.conflict(
    'key_reads_back', 'A question is under way, and its bill is still read with this key.', {
      next: 'Wait until it has ended, whosever it is, and run this again.',
      details: { open: open.length },
    },
  )
}

const planOf = (
  gov: Gov, view: View, provider: AlphaProvider, save: AlphaSave, supplied: string | null,
): SetupPlan => {
  const facts = alphaFacts(gov, view, provider)
  if (save.removesKey === true && facts.setup === null) throw noKeyStored()
  return planSetupChange(facts.setup, save.input, {
    provider,
    consentCurrent: isConsentCurrent(facts),
    consentKept: facts.toThisText && (facts.lapse === null || facts.lapse === 'suspended'),
    ledgerCeilingMicrousd: facts.account.ok ? facts.account.ceilingMicrousd : null,
    storedFingerprint: usableFingerprint(facts.key),
    suppliedFingerprint: supplied,
    keyGoes: save.removesKey === true && facts.key.present,
  })
}

/** The two server-set fields follow from what this save does, never from the request. */
const storedSetup = (
  plan: SetupPlan, grantedRevision: number | null, fingerprint: string | null,
): AlphaTextSetup => {
  const kept = plan.consent === 'withdraw' ? null : plan.next.plaintext_egress_consent_revision
  return {
    ...plan.next,
    credential_fingerprint: fingerprint ?? plan.next.credential_fingerprint,
    plaintext_egress_consent_revision: grantedRevision ?? kept,
  }
}

const dropsOf = ({ consent }: SetupPlan): readonly string[] =>
  (consent === 'keep' ? [] : [alphaPurpose])

const decide = (
  gov: Gov, provider: AlphaProvider, save: AlphaSave, supplied: string | null,
) => (view: View): SaveDecision | null => {
  const plan = planOf(gov, view, provider, save, supplied)
  if (plan.unchanged) return null
  if (plan.keyChange === 'removed') requireReadBack(view)
  requireSaveAuthority(plan, {
    acknowledged: save.input.plaintext_provider_egress_acknowledged,
    expectedPolicyRevision: save.expectedPolicyRevision,
  })
  const acknowledged = {
    purpose: alphaPurpose, statementSha256: alphaConsentStatement(provider).sha256,
    expiresAt: null,
  }
  // Without an owner of the ceiling there is no ledger yet: this save bootstraps it.
  const ceilingMicrousd = plan.ceilingMicrousd ??
    (ceilingOwner(view) === undefined ? plan.next.spend_ceiling_microusd : null)
  return {
    ceilingMicrousd,
    widens: plan.needsAuthority,
    grants: plan.consent === 'grant' ? [acknowledged] : [],
    acknowledges: plan.consent === 'keep' && plan.needsAuthority ? [acknowledged] : [],
    drops: dropsOf(plan),
    // A document that leaves `enabled` out disables too, but says nothing of stopping.
    onlyStops: plan.disablesOnly && save.input.enabled === false,
    closes: plan.closes ? [{ kind: 'alpha', target: provider.name }] : [],
    apply: (write, _now, outcome) => {
      const revision = outcome.consents.at(0)?.granted_revision ?? null
      write.put(alphaSetupCollection, alphaSetupId, storedSetup(plan, revision, supplied))
    },
  }
}

/** Whether a save would change anything here, judged on one view. Throws as the save. */
export const alphaWouldChange = (
  gov: Gov, view: View, provider: AlphaProvider, save: AlphaSave,
): boolean => {
  const secret = suppliedKey(save.input)
  try {
    return !planOf(gov, view, provider, save, suppliedOf(gov, secret)).unchanged
  } finally {
    secret?.fill(0)
  }
}

/**
 * Whether a save may be made only with the acknowledgment of plaintext egress, given that it would
 * come. Throws as the save.
 */
export const alphaNeedsAcknowledgment = (
  gov: Gov, provider: AlphaProvider, input: AlphaTextSetupInput,
): boolean => {
  const secret = suppliedKey(input)
  try {
    const save = {
      input: { ...input, plaintext_provider_egress_acknowledged: true },
      expectedPolicyRevision: null,
    }
    return planOf(gov, gov.store.read(), provider, save, suppliedOf(gov, secret)).needsAuthority
  } finally {
    secret?.fill(0)
  }
}

/** What a save would void, judged on one view. Throws as the save. */
export const alphaVoids = (
  gov: Gov, view: View, provider: AlphaProvider, save: AlphaSave,
): SaveVoids => {
  const secret = suppliedKey(save.input)
  try {
    const plan = planOf(gov, view, provider, save, suppliedOf(gov, secret))
    const { policy, nowMs } = momentOf(gov, view)
    return plan.unchanged ? voidsNothing : voidsOf(view, policy, nowMs, dropsOf(plan))
  } finally {
    secret?.fill(0)
  }
}

const suppliedOf = (gov: Gov, secret: Buffer | null): string | null =>
  (secret === null ? null : fingerprintOf(gov.store, alphaCredentialRef, secret))

/** The key to store, or null when none or a blank one was given: the stored one stays. */
const suppliedKey = (input: AlphaTextSetupInput): Buffer | null => {
  const key = input.api_key
  return key === undefined || isBlankKey(key) ? null : Buffer.from(key, 'latin1')
}

/**
 * Saves the route's setup and answers the read of after, with what had left of what it closes. An
 * unchanged block changes nothing and publishes nothing. Throws `rejected`, `conflict` (stale
 * revision, differing ceiling, somebody published in between), `unauthorized`.
 */
export const saveAlpha = async (
  gov: Gov, session: Session, provider: AlphaProvider, save: AlphaSave,
): Promise<AlphaShow> => {
  const secret = suppliedKey(save.input)
  let narrowed: Awaited<ReturnType<typeof publishSave>>
  try {
    const supplied = suppliedOf(gov, secret)
    const plan = planOf(gov, gov.store.read(), provider, save, supplied)
    narrowed = await publishSave(gov, session, {
      route: alphaRouteName,
      expectedRevision: save.expectedPolicyRevision,
      accepts: save.accepts,
      decide: decide(gov, provider, save, supplied),
      closed: () => (plan.next.enabled ? [] : [{ kind: 'alpha', target: provider.name }]),
      credential: secret === null || plan.keyChange === 'none'
        ? null : { ref: alphaCredentialRef, secret },
      removesKey: plan.keyChange === 'removed' ? alphaCredentialRef : undefined,
    })
  } finally {
    secret?.fill(0)
  }
  const owner = session.principal.principal_id
  return {
    ...projectAlpha(alphaFacts(gov, gov.store.read(), provider, owner)),
    requests: requestsDocument(narrowed.sent),
  }
}

/**
 * Follows an edit of the one ceiling that another route made: the mirror is a budget field, no
 * grant. Called inside that route's closing record.
 */
export const mirrorCeiling = (tx: Tx, ceilingMicrousd: number): void => {
  const setup = tx.get(alphaSetupCollection, alphaSetupId)
  if (!setup || setup.spend_ceiling_microusd === ceilingMicrousd) return
  tx.put(alphaSetupCollection, alphaSetupId, { ...setup, spend_ceiling_microusd: ceilingMicrousd })
}

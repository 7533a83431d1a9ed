/**
 * The save of this route. What it changes is decided by `planGatewayChange` on the rows at r, under
 * the lock; governance publishes r+1 and r+2 around it (policy/save.ts). From its first save on
 * the route owns the one ceiling, and other routes' mirrors follow in its closing record.
 */
import { fail } from '../base/errors.js'
import { newId } from '../base/ids.js'
import type { Gov, Session } from '../governance/context.js'
import { momentOf } from '../governance/judge/moment.js'
import { ceilingOwner } from '../governance/policy/ceiling.js'
import { publishSave, type SaveDecision } from '../governance/policy/save.js'
import {
  voidsNothing, voidsOf, type AcceptedVoids, type SaveVoids,
} from '../governance/policy/voids.js'
import { collections } from '../governance/rows.js'
import { requestsDocument } from '../governance/stops/requests.js'
import { fingerprintOf, keyFacts, noKeyStored, usableFingerprint } from '../governance/vault.js'
import type { Tx, View } from '../state/types.js'
import { egressStatement, purposeStatement, type GatewayStatement } from './consent-text.js'
import { gatewayConsents, type StandingConsent } from './consents.js'
import {
  gatewayCredentialRef, gatewayPurposes, gatewayRouteName, slotOfPurpose, type GatewayPlace,
} from './constants.js'
import { planGatewayChange, requireGatewayAuthority, type GatewayPlan } from './plan.js'
import { projectGateway, type GatewayShow } from './projection.js'
import { gatewayFacts } from './readiness.js'
import { gatewayCollection, gatewayRouteId, isBlankKey, type GatewayInput } from './setup.js'
import { forgetSince } from './usage/usage-rows.js'

/** A save request, already parsed strictly. */
export interface GatewaySave {
  readonly input: GatewayInput
  readonly expectedPolicyRevision: number | null
  /** Paid results that whoever saves gives up. */
  readonly accepts?: AcceptedVoids | undefined
  /** Takes the key out of the vault; the input says nothing but that the route is disabled. */
  readonly removesKey?: boolean
}

/** Follows an edit of the one ceiling in another route's document; a budget field, no grant. */
type CeilingMirror = (tx: Tx, ceilingMicrousd: number) => void

const requireBase = (place: GatewayPlace): string => {
  if (place.baseUrl !== null) return place.baseUrl
  throw fail.rejected(
    'gateway_not_in_profile', 'The sealed deployment profile names no gateway.',
    { next: 'A gateway is named at init (--profile FILE) and never later.' },
  )
}

/** Stands, or is only suspended by a save that did not end. */
const isKept = ({ lapse }: StandingConsent): boolean => lapse === null || lapse === 'suspended'

const planOf = (
  gov: Gov, view: View, place: GatewayPlace, save: GatewaySave, supplied: string | null,
): GatewayPlan => {
  const apiBase = requireBase(place)
  const route = view.get(gatewayCollection, gatewayRouteId) ?? null
  if (save.removesKey === true && route === null) throw noKeyStored()
  const consents = gatewayConsents(momentOf(gov, view), route)
  const key = keyFacts(gov.store, view, gatewayCredentialRef)
  return planGatewayChange(route, save.input, {
    apiBase,
    reserved: place.reserved,
    ledgerCeilingMicrousd: view.all(collections.ledgerAccounts).at(0)?.doc.ceiling_microusd ?? null,
    egressCurrent: consents.egress().lapse === null,
    egressKept: isKept(consents.egress()),
    currentPurposes: new Set(
      gatewayPurposes.filter((purpose) => consents.purpose(purpose).lapse === null),
    ),
    keptPurposes: new Set(gatewayPurposes.filter((purpose) => isKept(consents.purpose(purpose)))),
    storedFingerprint: usableFingerprint(key),
    suppliedFingerprint: supplied,
    keyGoes: save.removesKey === true && key.present,
    newGrantId: newId('grt'),
  })
}

const statementsOf = (plan: GatewayPlan): readonly GatewayStatement[] => {
  const egress = plan.grantsEgress ? [egressStatement(plan.next)] : []
  const purposes = plan.grants.flatMap((purpose) => {
    const slot = plan.next.slots[slotOfPurpose[purpose]]
    return slot === null ? [] : [purposeStatement(purpose, slot)]
  })
  return [...egress, ...purposes]
}

const grantsOf = (plan: GatewayPlan): SaveDecision['grants'] =>
  statementsOf(plan).map(({ purpose, sha256 }) => ({
    purpose, statementSha256: sha256, expiresAt: null,
  }))

interface SaveParts {
  readonly gov: Gov
  readonly place: GatewayPlace
  readonly save: GatewaySave
  readonly supplied: string | null
  readonly mirrors: readonly CeilingMirror[]
}

const decide = ({ gov, place, save, supplied, mirrors }: SaveParts) => (
  view: View,
): SaveDecision | null => {
  const plan = planOf(gov, view, place, save, supplied)
  if (plan.unchanged) return null
  requireGatewayAuthority(plan, {
    acknowledged: save.input.cloud_egress_acknowledged,
    expectedPolicyRevision: save.expectedPolicyRevision,
  })
  const owns = ceilingOwner(view) === gatewayRouteName
  const ceilingMicrousd = plan.ceilingMicrousd ?? (owns ? null : plan.next.spend_ceiling_microusd)
  return {
    ceilingMicrousd,
    widens: plan.needsAuthority,
    grants: grantsOf(plan),
    drops: plan.drops,
    onlyStops: plan.onlyStops,
    closes: plan.closes,
    apply: (write) => {
      write.put(gatewayCollection, gatewayRouteId, plan.next)
      // Another key, or an old copy that was put back, may have been used meanwhile.
      forgetSince(write)
      if (ceilingMicrousd === null) return
      for (const mirror of mirrors) mirror(write, ceilingMicrousd)
    },
  }
}

const suppliedKey = (input: GatewayInput): Buffer | null => {
  const key = input.api_key
  return key === undefined || isBlankKey(key) ? null : Buffer.from(key, 'latin1')
}

const withKey = async <T>(
  gov: Gov, input: GatewayInput, use: (secret: Buffer | null, supplied: string | null) => T,
): Promise<Awaited<T>> => {
  const secret = suppliedKey(input)
  try {
    const supplied = secret === null
      ? null : fingerprintOf(gov.store, gatewayCredentialRef, secret)
    return await use(secret, supplied)
  } finally {
    secret?.fill(0)
  }
}

/** Whether a save would change anything here, judged on one view. Throws as the save. */
export const gatewayWouldChange = (
  gov: Gov, view: View, place: GatewayPlace, save: GatewaySave,
): Promise<boolean> =>
  withKey(gov, save.input, (_secret, supplied) =>
    !planOf(gov, view, place, save, supplied).unchanged)

/** What a save would void, judged on one view. Throws as the save. */
export const gatewayVoids = (
  gov: Gov, view: View, place: GatewayPlace, save: GatewaySave,
): Promise<SaveVoids> =>
  withKey(gov, save.input, (_secret, supplied) => {
    const plan = planOf(gov, view, place, save, supplied)
    const { policy, nowMs } = momentOf(gov, view)
    return plan.unchanged ? voidsNothing : voidsOf(view, policy, nowMs, plan.drops)
  })

/**
 * The exact texts that a save with the acknowledgment would consent to, to be shown before it is
 * given. Throws as the save.
 */
export const gatewayStatements = (
  gov: Gov, place: GatewayPlace, input: GatewayInput,
): Promise<readonly GatewayStatement[]> =>
  withKey(gov, input, (_secret, supplied) => {
    const save = {
      input: { ...input, cloud_egress_acknowledged: true }, expectedPolicyRevision: null,
    }
    return statementsOf(planOf(gov, gov.store.read(), place, save, supplied))
  })

/**
 * Whether a save may be made only with the acknowledgment of cloud egress, given that it would
 * come. Throws as the save.
 */
export const gatewayNeedsAcknowledgment = (
  gov: Gov, place: GatewayPlace, input: GatewayInput,
): Promise<boolean> =>
  withKey(gov, input, (_secret, supplied) => {
    const save = {
      input: { ...input, cloud_egress_acknowledged: true }, expectedPolicyRevision: null,
    }
    return planOf(gov, gov.store.read(), place, save, supplied).needsAuthority
  })

/**
 * Saves the route and answers the read of after, with what had left of what it closes. An unchanged
 * block changes nothing and publishes nothing; slots that are not named, the key under a blank one,
 * the grant and every proof stay.
 * Throws `rejected`, `conflict` (stale revision, somebody published in between), `unauthorized`.
 */
export const saveGateway = async (
  gov: Gov, session: Session, place: GatewayPlace, save: GatewaySave,
  mirrors: readonly CeilingMirror[],
): Promise<GatewayShow> => {
  const { sent } = await withKey(gov, save.input, async (secret, supplied) => {
    const plan = planOf(gov, gov.store.read(), place, save, supplied)
    return publishSave(gov, session, {
      route: gatewayRouteName,
      expectedRevision: save.expectedPolicyRevision,
      accepts: save.accepts,
      decide: decide({ gov, place, save, supplied, mirrors }),
      closed: () => plan.closed,
      credential: secret !== null && plan.keyChange
        ? { ref: gatewayCredentialRef, secret } : null,
      removesKey: plan.keyGoes ? gatewayCredentialRef : undefined,
    })
  })
  return {
    ...projectGateway(gatewayFacts(gov, gov.store.read(), place)),
    requests: requestsDocument(sent),
  }
}

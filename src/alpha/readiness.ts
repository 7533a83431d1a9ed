/**
 * May the route be used, begun, contacted, its answer adopted? One list of named facts answers all
 * of it; the configuration read tells the first that does not hold. Nothing is asked of the
 * provider.
 */
import type { Gov, Session } from '../governance/context.js'
import { acknowledgmentFacts, consentFacts, giverWords } from '../governance/judge/consent-facts.js'
import {
  claimFacts, purposeFacts, standingFacts, type EffectCase,
} from '../governance/judge/effect.js'
import {
  always, denied, judge, untilContact, within, type Denial, type Fact, type Phase,
} from '../governance/judge/fact.js'
import { momentOf, type Moment } from '../governance/judge/moment.js'
import { accountFacts, accountWords } from '../governance/judge/money-facts.js'
import {
  policyFacts, policyWords, storeFacts, storeWords,
} from '../governance/judge/policy-facts.js'
import { outliveFacts, type OutliveCase } from '../governance/judge/person-facts.js'
import { ledgerFacts, type LedgerFacts } from '../governance/ledger/facts.js'
import {
  consentLapse, giverOf, hasAcknowledged, latestConsent, type ConsentLapse, type Giver,
} from '../governance/policy/consents.js'
import type { PolicyBlock } from '../governance/policy/policy-status.js'
import type { Consent } from '../governance/rows.js'
import type { KeyFacts } from '../governance/vault.js'
import type { View } from '../state/types.js'
import { alphaConsentStatement } from './consent-text.js'
import {
  alphaCredentialRef, alphaLimits as limits, alphaPurpose, type AlphaProvider,
} from './constants.js'
import type { AlphaTextInput } from './input.js'
import { alphaSetupCollection, type AlphaTextSetup } from './setup.js'
import { fail } from '../base/errors.js'

const grant = 'sallyport alpha setup --enable'

/**
 * What the configuration read says of a reason, in the order of the list: its status, and a
 * sentence with what to do. The names are closed; scripts match them.
 */
export const alphaReasons = {
  route_disabled: {
    status: 'disabled',
    text: 'The route is disabled. Enable it with `sallyport alpha setup --enable`.',
  },
  key_missing: {
    status: 'configuration_required',
    text: 'No provider key is stored. Store one with `sallyport alpha setup --api-key-file F`.',
  },
  key_unreadable: {
    status: 'blocked',
    text: 'The stored key cannot be opened. Store it anew with'
      + ' `sallyport alpha setup --api-key-file F`; see `sallyport state check`.',
  },
  ...storeWords,
  fixed_route_mismatch: {
    status: 'blocked',
    text: 'The stored provider or model is not the sealed one. Save the setup anew.',
  },
  credential_mismatch: {
    status: 'blocked',
    text: 'The stored key is not the one that was saved with this setup. Save the key anew.',
  },
  ...policyWords({ noun: 'setup', grant }),
  consent_not_current: {
    status: 'blocked', text: `The consent is not current. Grant anew with \`${grant}\`.`,
  },
  ...giverWords(grant),
  acknowledgment_missing: {
    status: 'blocked',
    text: 'You have not acknowledged this consent yourself. Read it and acknowledge it with'
      + ' `sallyport alpha acknowledge`.',
  },
  ...accountWords('setup'),
} as const

/** Name of a reason why the route is not `configured`. */
export type AlphaReasonCode = keyof typeof alphaReasons

/** The four statuses there are. */
export const alphaStatuses = [
  'disabled', 'configuration_required', 'blocked', 'configured',
] as const
type AlphaStatus = (typeof alphaStatuses)[number]

/** Facts of one consistent view; nothing here is asked of the provider. */
export interface AlphaFacts {
  readonly setup: AlphaTextSetup | null
  /** Sealed provider of the deployment profile. */
  readonly provider: AlphaProvider
  /** The vault's own answer under the capability's credential name. */
  readonly key: KeyFacts
  /** Head of the policy, and why it forbids contact as judged with witness and anchor. */
  readonly policy: { readonly revision: number; readonly block: PolicyBlock }
  /** Why the purpose consent authorizes nothing now; null while it does. */
  readonly lapse: ConsentLapse | null
  /** Whether the newest consent was given to the text of today. */
  readonly toThisText: boolean
  /** Who gave the newest consent; null without one. */
  readonly giver: Giver | null
  /** Whether the owner who looks or asks has acknowledged it; null where nobody is known. */
  readonly acknowledged: boolean | null
  readonly account: LedgerFacts
}

/** An ask, as far as it has come. */
export interface AskCase extends EffectCase { readonly input: AlphaTextInput }

/** What the route is judged on; `ask` is null where no ask is meant. */
interface AlphaCase {
  readonly facts: AlphaFacts
  readonly ask: AskCase | null
  /** The session that asks or would; null where none is meant. */
  readonly asker: Omit<OutliveCase, 'neededMs'> | null
}

interface SavedCase extends AlphaFacts { readonly setup: AlphaTextSetup }

const asked = ({ ask }: AlphaCase): AskCase | null => ask
const policy = ({ facts }: AlphaCase) => facts.policy
/** Without a setup there is one reason, and it is that. */
const saved = ({ facts }: AlphaCase): SavedCase | null =>
  (facts.setup === null ? null : { ...facts, setup: facts.setup })

const savedFact = <Name extends AlphaReasonCode>(
  fact: Fact<SavedCase, Name>,
): readonly Fact<AlphaCase, Name>[] => within(saved, [fact])

/** Longest time from the first byte of a question to its charge, milliseconds. */
const askNeedsMs = ({ timeout_seconds: seconds }: AlphaTextSetup): number =>
  Math.min(seconds * 1_000, limits.inferenceMsMax) + limits.billingStageMsMax

/**
 * Everything that a use of the route rests on, most telling first (A-069, A-070, A-084, A-086,
 * Key and accounting count until the contact only: an answer once paid for
 * does not need them.
 */
export const alphaRoute = [
  ...within(asked, standingFacts),
  {
    name: 'route_disabled', kind: 'unauthorized', phases: always,
    holds: ({ facts }: AlphaCase) => facts.setup?.enabled === true,
  },
  ...savedFact({
    name: 'key_missing', kind: 'blocked', phases: untilContact, holds: ({ key }) => key.present,
  }),
  ...savedFact({
    name: 'key_unreadable', kind: 'blocked', phases: ['status', 'admit'],
    holds: ({ key }) => !key.present || key.opens(),
  }),
  ...within(policy, storeFacts),
  ...savedFact({
    name: 'fixed_route_mismatch', kind: 'blocked', phases: untilContact,
    holds: ({ setup, provider }) =>
      setup.model_id === provider.model_id && setup.api_base === provider.base_url,
  }),
  ...savedFact({
    name: 'credential_mismatch', kind: 'blocked', phases: untilContact,
    holds: ({ setup, key }) => setup.credential_fingerprint === key.fingerprint,
  }),
  ...within(policy, policyFacts),
  ...within(saved, [...consentFacts, ...acknowledgmentFacts]),
  ...within(asked, purposeFacts),
  {
    // What came back was within the cap that it was asked under.
    name: 'output_cap_lowered', kind: 'unauthorized', phases: ['admit', 'preflight', 'contact'],
    holds: ({ facts: { setup }, ask }: AlphaCase) => ask === null || setup === null
      || ask.input.max_output_tokens <= setup.max_output_tokens,
  },
  ...within((one: AlphaCase) => {
    const its = saved(one)
    return its === null ? null : {
      account: its.account, ceilingMicrousd: its.setup.spend_ceiling_microusd,
      boundMicrousd: its.setup.request_cost_bound_microusd,
    }
  }, accountFacts),
  ...within(asked, claimFacts),
  ...within(({ facts: { setup }, asker }: AlphaCase) => (setup === null || asker === null
    ? null : { ...asker, neededMs: askNeedsMs(setup) }), outliveFacts),
] as const

/**
 * What the end of a task, its receipt and the review of an overrun have always said of these
 * reasons; the names in the list are those of the configuration read and of a stored decision.
 */
export const alphaToldAs = {
  root_not_live: 'root_gone',
  root_foreign: 'root_gone',
  goal_not_open: 'goal_changed',
  goal_foreign: 'goal_changed',
  route_disabled: 'alpha_disabled',
  purpose_expired: 'consent_not_current',
} as const

/** The consent that the setup names, as it stands; another one of the purpose is not its own. */
const lapseOf = (
  { view, policy: standing, nowMs }: Moment, consent: Consent | undefined,
  setup: AlphaTextSetup | null,
): ConsentLapse | null => {
  const revision = setup?.plaintext_egress_consent_revision ?? null
  return consent?.granted_revision === revision
    ? consentLapse(view, standing, consent, nowMs) : 'not_current'
}

/** The facts of one moment for one owner, or for nobody in particular; contacts nobody. */
export const alphaFactsAt = (
  moment: Moment, provider: AlphaProvider, owner: string | null = null,
): AlphaFacts => {
  const { view } = moment
  const setup = view.get(alphaSetupCollection, 'the') ?? null
  const consent = latestConsent(view, alphaPurpose)
  const { sha256 } = alphaConsentStatement(provider)
  return {
    setup,
    provider,
    key: moment.keyOf(alphaCredentialRef),
    policy: { revision: moment.policy.head.revision, block: moment.policy.block },
    lapse: lapseOf(moment, consent, setup),
    toThisText: consent?.statement_sha256 === sha256,
    giver: consent === undefined ? null : giverOf(view, consent),
    acknowledged: owner === null ? null : hasAcknowledged(consent, owner, sha256),
    account: ledgerFacts(view),
  }
}

/** Everything that the status of the route depends on, out of one view; contacts nobody. */
export const alphaFacts = (
  gov: Gov, view: View, provider: AlphaProvider, owner: string | null = null,
): AlphaFacts => alphaFactsAt(momentOf(gov, view), provider, owner)

/** Whether the consent is bound to the active, witnessed policy of a current store. */
export const isConsentCurrent = (facts: AlphaFacts): boolean =>
  facts.lapse === null && facts.policy.block === null

const hasWords = (name: string): name is AlphaReasonCode => Object.hasOwn(alphaReasons, name)

const worded = (denials: readonly Denial[]): AlphaReasonCode | null => {
  const [first] = denials
  if (first === undefined) return null
  if (hasWords(first.name)) return first.name
  throw new TypeError('a reason of the status has its words')
}

const judgeRoute = (facts: AlphaFacts, phase: Phase, asker: AlphaCase['asker'] = null) =>
  judge(alphaRoute, { facts, ask: null, asker }, phase)

/**
 * The first reason why the route may not contact its provider, or null when key, consent and
 * accounting are ready; null promises nothing about the provider.
 */
export const alphaReasonOf = (facts: AlphaFacts, setup: AlphaTextSetup): AlphaReasonCode | null =>
  worded(judgeRoute({ ...facts, setup }, 'status'))

/** Status and sentence of a reason; where somebody gave the consent, the sentence names them. */
export const alphaWordsOf = (
  reason: AlphaReasonCode, { giver }: Pick<AlphaFacts, 'giver'>,
): { readonly status: AlphaStatus; readonly text: string } =>
  ({ ...alphaReasons, ...giverWords(grant, giver) })[reason]

const loginNext = 'Your session ends before an answer could be there and its charge read back.'
  + ' Run `sallyport login`, then ask again.'

const admitText = (denials: readonly Denial[], facts: AlphaFacts): string => {
  const reason = worded(denials)
  return reason === null ? '' : alphaWordsOf(reason, facts).text
}

/** The setup, if this owner may ask anew; else throws with the reason of the read. */
export const requireConfigured = (
  moment: Moment, provider: AlphaProvider, session: Session,
): AlphaTextSetup => {
  const facts = alphaFactsAt(moment, provider, session.principal.principal_id)
  if (facts.setup === null) {
    throw fail.unauthorized('alpha_not_set_up', 'The text capability is not set up.', {
      reason: 'not_set_up', next: 'Run `sallyport alpha setup`.',
    })
  }
  const denials = judgeRoute(facts, 'admit', { moment, root: session.root.root_id })
  const [first] = denials
  if (first === undefined) return facts.setup
  throw denied(denials, {
    code: 'alpha_not_configured', message: 'The text capability may not be used now.',
    next: first.name === 'session_ends_too_soon' ? loginNext : admitText(denials, facts),
  })
}

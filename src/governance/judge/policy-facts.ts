/** What the policy of the whole deployment says; every route says it in the same words. */
import type { PolicyBlock } from '../policy/policy-status.js'
import { always, type Denial, type Fact } from './fact.js'

/** Why the policy forbids contact; null when it does not. */
interface PolicyCase { readonly block: PolicyBlock }

type BlockName = NonNullable<PolicyBlock>

const fact = <Name extends BlockName>(
  name: Name, kind: 'blocked' | 'unauthorized',
): Fact<PolicyCase, Name> =>
  ({ name, kind, phases: always, holds: ({ block }) => block !== name })

/** The store is the newest of its kind, and the policy is the one that was published. */
export const storeFacts = [
  fact('store_behind_anchor', 'blocked'), fact('witness_mismatch', 'blocked'),
] as const

/** The policy is active. */
export const policyFacts = [
  fact('save_in_progress', 'unauthorized'), fact('save_interrupted', 'unauthorized'),
  fact('policy_revoked', 'unauthorized'),
] as const

/** What a save leaves behind until it, or the next one, has ended: it takes no consent away. */
const suspending: ReadonlySet<string> = new Set(['save_in_progress', 'save_interrupted'])

/** What stands against using what came back. */
interface AdoptionStatus {
  /** Why it may never be used; null while nothing forbids it. */
  readonly lost: Denial | null
  /** Why it may not be used yet: a save has not ended; null otherwise. */
  readonly suspended: Denial | null
}

/**
 * What the denials of an adoption come to: a save in between suspends it, anything else ends it
 * (A-168, A-185).
 */
export const adoptionOf = (denials: readonly Denial[]): AdoptionStatus => ({
  lost: denials.find(({ name }) => !suspending.has(name)) ?? null,
  suspended: denials.find(({ name }) => suspending.has(name)) ?? null,
})

/** Status and sentence of each of the store's. */
export const storeWords = {
  store_behind_anchor: {
    status: 'blocked',
    text: 'The state directory is not the newest of its kind. See `sallyport state check`.',
  },
  witness_mismatch: {
    status: 'blocked',
    text: 'The policy and its witness disagree. See `sallyport state check`.',
  },
} as const

/** The same of the policy's. `saved`: what the route calls its set-up, and what grants it anew. */
export const policyWords = (saved: { readonly noun: string, readonly grant: string }) => ({
  save_in_progress: {
    status: 'blocked',
    text: 'A save of the model configuration is under way. Look again when it has ended.',
  },
  save_interrupted: {
    status: 'blocked',
    text: `A save was interrupted and rolled back. Save the ${saved.noun} anew to activate it.`,
  },
  policy_revoked: {
    status: 'blocked',
    text: `The policy is revoked for every route. Grant anew with \`${saved.grant}\`.`,
  },
} as const)

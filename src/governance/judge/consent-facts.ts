/** What every route asks of the consent to a purpose, and of whoever gave it. */
import type { ConsentLapse, Giver } from '../policy/consents.js'
import { always, untilContact, type Fact } from './fact.js'

/** How the consent of a purpose stands. */
export interface ConsentCase {
  /** Null while it authorizes its purpose. */
  readonly lapse: ConsentLapse | null
}

/**
 * The consent is current, under this name where it is not, and whoever gave it is not disabled. A
 * save that has not ended takes no consent away: nothing is sent meanwhile, but what came back and
 * is paid for is not lost by it.
 */
export const consentFactsAs = <Name extends string>(name: Name) => [
  {
    name, kind: 'unauthorized', phases: always,
    holds: ({ lapse }, phase) =>
      lapse !== 'not_current' && lapse !== 'expired'
        && (lapse !== 'suspended' || phase === 'adopt'),
  },
  {
    name: 'consent_giver_missing', kind: 'unauthorized', phases: always,
    holds: ({ lapse }) => lapse !== 'giver_missing',
  },
  {
    name: 'consent_giver_disabled', kind: 'unauthorized', phases: always,
    holds: ({ lapse }) => lapse !== 'giver_disabled',
  },
] as const satisfies readonly Fact<ConsentCase>[]

/** The same under the name that most routes tell. */
export const consentFacts = consentFactsAs('consent_not_current')

/**
 * Whoever asks has acknowledged that very consent themselves; null where nobody is known
 * who would have to. What came back does not need it any more.
 */
export const acknowledgmentFacts = [
  {
    name: 'acknowledgment_missing', kind: 'unauthorized', phases: untilContact,
    holds: ({ acknowledged }) => acknowledged !== false,
  },
] as const satisfies readonly Fact<{ readonly acknowledged: boolean | null }>[]

/** Sentence about a giver who carries nothing any more; `grant` is what consents anew. */
const giverText = (giver: Giver | null, is: string, grant: string): string => {
  const name = giver?.name ?? giver?.principal_id
  const who = name === undefined
    ? 'Whoever gave the consent' : `The consent was given by ${name}, who`
  return `${who} ${is}. Consent anew: \`${grant}\`.`
}

/** Status and sentence of each; `grant`: the command that consents anew. */
export const giverWords = (grant: string, giver: Giver | null = null) => ({
  consent_giver_missing: {
    status: 'blocked', text: giverText(giver, 'is not known here any more', grant),
  },
  consent_giver_disabled: { status: 'blocked', text: giverText(giver, 'is disabled', grant) },
} as const)

/** Whether a reason is about whoever gave the consent. */
export const isGiverReason = (name: string): boolean => Object.hasOwn(giverWords(''), name)

/** What a save that widens a route must bring, whichever the route. */
import { fail } from '../../base/errors.js'

/** What came with the save. */
export interface GivenAuthority {
  readonly acknowledged: boolean
  readonly expectedPolicyRevision: number | null
}

/** How a route names itself to people. */
interface RouteWords {
  /** What needs authority, as the subject of a sentence. */
  readonly saves: string
  readonly egress: string
  /** Flag that acknowledges it. */
  readonly flag: string
  /** Command that shows the revision. */
  readonly show: string
}

/**
 * Requires the acknowledgment and an expected revision. Whether it is the
 * exact one is compared under the lock, by the publication. Throws `rejected`
 * `acknowledgment_required`, `expected_policy_revision_required`.
 */
export const requireWideningAuthority = (
  { acknowledged, expectedPolicyRevision }: GivenAuthority, words: RouteWords,
): void => {
  if (!acknowledged) {
    throw fail.rejected(
      'acknowledgment_required',
      `${words.saves} needs the acknowledgment of ${words.egress}.`,
      {
        next: expectedPolicyRevision === null
          ? `Repeat with ${words.flag} and --expected-revision, as \`${words.show}\` prints it.`
          : `Repeat with ${words.flag}.`,
      },
    )
  }
  if (expectedPolicyRevision === null) {
    throw fail.rejected(
      'expected_policy_revision_required',
      `${words.saves} needs the exact expected policy revision.`,
      { next: `Read it with \`${words.show}\` and repeat with --expected-revision.` },
    )
  }
}

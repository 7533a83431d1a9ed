import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import { collections, type PolicyRevision } from '../rows.js'

/** Document id of a revision: padded, so that ids sort as revisions do. */
export const revisionId = (revision: number): string => String(revision).padStart(12, '0')

/** The policy at one revision, if it was ever published here. */
export const policyAt = (view: View, revision: number): PolicyRevision | undefined =>
  view.get(collections.policy, revisionId(revision))

/** Published revisions, newest first, at most `limit`; with `after` those below it. */
export const listPolicy = (view: View, limit: number, after?: number): readonly PolicyRevision[] =>
  view.range(collections.policy, {
    reverse: true, limit, ...(after === undefined ? {} : { after: revisionId(after) }),
  }).map(({ doc }) => doc)

/** The last published revision. Throws `damaged` when a store has none: `init` publishes one. */
export const policyHead = (view: View): PolicyRevision => {
  const head = view.get(collections.policyHead, 'the')
  const policy = head && policyAt(view, head.revision)
  if (!policy || policy.revision !== head.revision) {
    throw fail.damaged('policy_missing', 'The policy head names no published revision.', {
      next: 'Run `sallyport state check`.',
    })
  }
  return policy
}

/** True after an operator's revoke (or a restore) until some route is explicitly granted again. */
export const isGloballyRevoked = (policy: PolicyRevision): boolean =>
  policy.state === 'revoked' && policy.carries_from === null

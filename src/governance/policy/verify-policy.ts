/** Checks of policy, consents and vault rows for `state check`. Changes nothing. */
import type { View } from '../../state/types.js'
import type { Problem } from '../context.js'
import { collections, type Consent, type PolicyRevision } from '../rows.js'
import { revisionId } from './head.js'

type Rule = readonly [code: string, text: string, holds: boolean]

const failing = (subject: string, rules: readonly Rule[]): Problem[] =>
  rules.filter(([, , holds]) => !holds).map(([code, text]) => ({ code, subject, text }))

const revisionRules = (
  id: string, policy: PolicyRevision, before: PolicyRevision | undefined,
): readonly Rule[] => {
  const global = policy.epoch !== (before?.epoch ?? policy.epoch)
  return [
    ['policy_id_mismatch', 'A policy revision lies under its own number.',
      id === revisionId(policy.revision)],
    ['policy_epoch_broken', 'Epoch and fence only ever rise, and only together.',
      before === undefined || (global
        ? policy.epoch === before.epoch + 1 && policy.fence === policy.revision
        : policy.fence === before.fence)],
    ['policy_carry_mismatch', 'An active revision carries from itself, a global revoke from none.',
      (policy.state !== 'active' || policy.carries_from === policy.revision)
        && (!global || policy.carries_from === null)],
  ]
}

const consentRules = (
  id: string, consent: Consent, head: PolicyRevision, granted: readonly Consent[],
): readonly Rule[] => [
  ['consent_id_mismatch', 'A consent lies under its own id.', id === consent.consent_id],
  ['consent_bound_ahead', 'A consent is bound to a revision that was published.',
    consent.granted_revision <= consent.bound_revision && consent.bound_revision <= head.revision],
  ['consent_doubled', 'One purpose has at most one granted consent.',
    consent.state !== 'granted'
      || granted.filter(({ purpose }) => purpose === consent.purpose).length === 1],
  ['consent_unfenced', 'No consent from before a global revoke is granted.',
    consent.state !== 'granted' || consent.granted_revision > head.fence],
]

const headProblems = (view: View, head: PolicyRevision): Problem[] => {
  const ids = (list: readonly { consent_id: string }[]): string =>
    list.map(({ consent_id }) => consent_id).sort().join()
  // One that ended since, without a publication, stays bound to the revision that named it.
  const bound = view.all(collections.consents).map(({ doc }) => doc)
    .filter(({ bound_revision: revision }) => revision === head.revision)
  return failing(revisionId(head.revision), [[
    'policy_consents_mismatch', 'The newest revision names the consents that are bound to it.',
    ids(head.consents) === ids(bound),
  ]])
}

const credentialProblems = (view: View): Problem[] =>
  view.all(collections.credentials).flatMap(({ id, doc }) => failing(id, [[
    'credential_misplaced', 'A key lies under its name, a staged one beside it.',
    id === (doc.staged ? `${doc.credential_ref}+staged` : doc.credential_ref),
  ]]))

/** Every way in which policy, consents and vault rows contradict each other; [] is sound. */
export const verifyPolicy = (view: View): Problem[] => {
  const revisions = view.all(collections.policy)
  const head = revisions.at(-1)?.doc
  const named = view.get(collections.policyHead, 'the')?.revision
  if (head === undefined || named !== head.revision) {
    const text = 'The policy head does not name the newest revision.'
    return [{ code: 'policy_head_mismatch', subject: String(named ?? 'none'), text }]
  }
  const consents = view.all(collections.consents)
  const granted = consents.map(({ doc }) => doc).filter(({ state }) => state === 'granted')
  return [
    ...revisions.flatMap(({ id, doc }, at) =>
      failing(id, revisionRules(id, doc, revisions[at - 1]?.doc))),
    ...headProblems(view, head),
    ...consents.flatMap(({ id, doc }) => failing(id, consentRules(id, doc, head, granted))),
    ...credentialProblems(view),
  ]
}

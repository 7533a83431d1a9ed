import * as v from 'valibot'
import { policyStanding } from '../../../governance/policy/standing.js'
import { collections } from '../../../governance/rows.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { policyFacts, policyFactsShape } from './facts.js'

const schema = v.strictObject({
  policy: policyFactsShape,
  usable: v.boolean(),
  block: v.nullable(v.string()),
  witness: v.string(),
  consents: v.array(v.strictObject({
    consent_id: v.string(), route: v.string(), purpose: v.string(), state: v.string(),
    granted_revision: v.number(), bound_revision: v.number(), current: v.boolean(),
    granted_at: v.string(), expires_at: v.nullable(v.string()),
  })),
})
/** Result of `policy show`. */
export type PolicyShow = v.InferOutput<typeof schema>

const definition: VerbDefinition<PolicyShow> = {
  meta: {
    name: 'policy show',
    summary: 'show the policy, its witness and every consent',
    description:
      'Shows the last published revision, whether its witness agrees, and the consents with '
      + 'whether each is current. One policy governs every route.',
    examples: ['$ sallyport policy show', '$ sallyport policy show --json'],
    session: 'required',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: { version: 1, schema },
  },
  text: ({ policy, usable, block, witness, consents }, view) => [
    `revision  ${policy.revision}`,
    `state     ${view.paint(usable ? 'green' : 'yellow', policy.state)} (${policy.reason})`,
    ...(block === null ? [] : [`blocked   ${block}`]),
    `witness   ${witness}`,
    `epoch     ${policy.epoch}, fence ${policy.fence}`,
    ...consents.map((one) =>
      `consent   ${one.purpose}: ${one.state}${one.current ? ', current' : ''}`),
    '',
  ].join('\n'),
}

/** Reads the policy. */
export const run: Run<object, PolicyShow> = async (_options, deps) => {
  const { gov } = await deps.login('read')
  const view = gov.store.read()
  const { head, usable, block, witness } = policyStanding(gov.store, view)
  const { currentConsent } = await import('../../../governance/policy/consents.js')
  const standing = { head, usable, block, witness }
  return {
    policy: policyFacts(head),
    usable,
    block,
    witness,
    consents: view.all(collections.consents).map(({ doc }) => ({
      consent_id: doc.consent_id,
      route: doc.route,
      purpose: doc.purpose,
      state: doc.state,
      granted_revision: doc.granted_revision,
      bound_revision: doc.bound_revision,
      current: currentConsent(view, standing, doc.purpose, gov.clock.wallMs())?.consent_id
        === doc.consent_id,
      granted_at: doc.granted_at,
      expires_at: doc.expires_at,
    })),
  }
}

/** Parses a line of `policy show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

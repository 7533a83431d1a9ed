import { policyShow, type PolicyShowDocument } from '../../../governance/policy/contract.js'
import { showPolicy } from '../../../governance/policy/show.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

const definition: VerbDefinition<PolicyShowDocument> = {
  meta: {
    name: 'policy show',
    summary: 'show the policy, its witness and every consent',
    description:
      'Shows the last published revision, whether its witness agrees, and the consents with '
      + 'whether each is current. One policy governs every route.',
    examples: ['$ sallyport policy show', '$ sallyport policy show --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: policyShow,
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
export const run: Run<object, PolicyShowDocument> = async (_options, deps) => {
  const { gov } = await deps.login('read')
  return policyShow.answer(showPolicy(gov))
}

/** Parses a line of `policy show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

import { policyShow } from '../../../governance/policy/contract.js'
import { showPolicy } from '../../../governance/policy/show.js'
import { verb } from '../../verb.js'

export const show = verb(policyShow, {
  summary: 'show the policy, its witness and every consent',
  description:
    'Shows the last published revision, whether its witness agrees, and the consents with '
    + 'whether each is current. One policy governs every route.',
  examples: ['$ sallyport policy show', '$ sallyport policy show --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
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
  run: async (_request, deps) => {
    const { gov } = await deps.login('read')
    return showPolicy(gov)
  },
})

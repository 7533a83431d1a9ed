import { countText } from '../../../base/counted.js'
import { disablePrincipal } from '../../../governance/stops/people.js'
import { principalDisable } from '../../../governance/principals-contract.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { verb } from '../../verb.js'
import { principalText } from './text.js'

export const disable = verb(principalDisable, {
  summary: 'disable an owner for good',
  description:
    'Ends every session of an owner and lets it log in no more. Its tasks, goals and what it '
    + 'owes stay. The last owner cannot be disabled. Nothing enables an owner again whom a '
    + 'person has disabled, not even `principal enable`. To end only what somebody does now, '
    + 'revoke the session (`session revoke`).',
  examples: ['$ sallyport principal disable maria', '$ sallyport principal disable maria --yes'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command
    .argument('<name>', 'name or id of the owner')
    .option('--yes', 'do not ask'),
  text: ({ principal, sessions_ended: ended }) =>
    `${principalText(principal)}${countText(ended, 'session')} ended.\n`,
  run: async ({ name }, deps, line: { readonly yes?: boolean }) => {
    const { gov, session } = await loginToStop(deps)
    if (deps.interactive && line.yes !== true) {
      await deps.confirm('Disable this owner for good? No command lets it in again.', '--yes')
    }
    const disabled = await disablePrincipal(gov, session, name)
    await afterStop(deps, gov, disabled.recorded)
    return disabled
  },
})

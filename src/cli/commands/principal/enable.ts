import { enablePrincipal } from '../../../governance/enable.js'
import { principalEnable } from '../../../governance/principals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { verb } from '../../verb.js'
import { principalText } from './text.js'

export const enable = verb(principalEnable, {
  summary: 'let an owner log in again after a restore',
  description:
    'Where a backup was put in place, or a damaged state repaired, and nothing told which owners '
    + 'had been disabled since, only the one who did it may log in. This lets another owner log '
    + 'in again, by name; consents and acknowledgments that it gave before do not come back. An '
    + 'owner that a person disabled stays disabled for good.',
  examples: ['$ sallyport principal enable maria'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command.argument('<name>', 'name or id of the owner'),
  text: ({ principal }) => principalText(principal),
  run: async ({ name }, deps) => {
    const { gov, session } = await loginToMutate(deps)
    return enablePrincipal(gov, session, name)
  },
})

import { codehostRevoke } from '../../../codehost/contract.js'
import { revokeConsent } from '../../../codehost/narrow.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { verb } from '../../verb.js'
import { connectionText } from './text.js'

export const revoke = verb(codehostRevoke, {
  summary: 'take back the consent of a connection, at once',
  description:
    'Nothing more is written through the connection once it has answered, also while a job '
    + 'occupies it. It is no undo: what was sent stays sent, and stays shown. Reads go on, so '
    + 'that what was sent can be found out.',
  examples: ['$ sallyport codehost revoke ID', '$ sallyport codehost revoke ID --json'],
  session: 'required',
  ids: { connection: 'connection' },
  decides: true,
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command.argument('<connection>', 'id of the connection'),
  text: connectionText,
  run: async ({ connection }, deps) => {
    const { gov, session } = await loginToStop(deps)
    const revoked = await revokeConsent(gov, session, connection)
    await afterStop(deps, gov, revoked.recorded)
    return revoked
  },
})

import { codehostDisconnect } from '../../../codehost/contract.js'
import { disconnect as dropConnection } from '../../../codehost/narrow.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { verb } from '../../verb.js'
import { connectionText } from './text.js'

export const disconnect = verb(codehostDisconnect, {
  summary: 'remove the token of a connection and end its consent; its row stays',
  description:
    'The consent ends at once, then the token is taken out of the vault. What jobs did stays '
    + 'shown; a later `codehost connect` to the same repository takes the row up again, so that '
    + 'a job in CI leaves no connection behind at each run. Refused while a job occupies the '
    + 'connection: what was sent is settled with the token that it was sent with.',
  examples: ['$ sallyport codehost disconnect ID', '$ sallyport codehost disconnect ID --json'],
  session: 'required',
  ids: { connection: 'connection' },
  decides: true,
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command.argument('<connection>', 'id of the connection'),
  text: connectionText,
  run: async ({ connection }, deps) => {
    const { gov, session } = await loginToStop(deps)
    const done = await dropConnection(gov, session, connection)
    await afterStop(deps, gov, done.recorded)
    return done
  },
})

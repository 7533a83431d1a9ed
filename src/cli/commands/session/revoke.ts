import { sessionRevoke } from '../../../governance/session/contract.js'
import { revokeSession } from '../../../governance/stops/people.js'
import { dropToken, tokenPath } from '../../../governance/session/token.js'
import { currentToken } from '../../login.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { verb } from '../../verb.js'
import { sessionText } from './text.js'

export const revoke = verb(sessionRevoke, {
  summary: 'end a session by its id',
  description:
    'Ends one of your sessions, or that of any other owner: ending only ever stops something, '
    + 'and is audited. Nothing that the session admitted is contacted or adopted any more.',
  examples: ['$ sallyport session revoke root_0190f…'],
  session: 'required',
  ids: { session: 'session' },
  decides: true,
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command.argument('<session>', 'id of the session'),
  text: ({ root }) => sessionText(root),
  run: async (request, deps) => {
    const { gov, session } = await loginToStop(deps)
    const revoked = await revokeSession(gov, session, request.session)
    await afterStop(deps, gov, revoked.recorded)
    const token = currentToken(gov, deps.env)
    if (revoked.session.id === session.root.root_id && token !== null) {
      dropToken(tokenPath(gov.store.dir), token)
    }
    return revoked
  },
})

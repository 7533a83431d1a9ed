import { SallyportError } from '../../../base/errors.js'
import { sessionLogout } from '../../../governance/session/session-contract.js'
import { logout as logOut } from '../../../governance/stops/people.js'
import { dropToken, tokenPath } from '../../../governance/session/token.js'
import { currentToken } from '../../login.js'
import { verb } from '../../verb.js'
import { afterStop } from '../../work.js'

export const logout = verb(sessionLogout, {
  summary: 'end your session',
  description:
    'Ends the session whose token is in use and forgets the token. It ends an idle '
    + 'session too; with no session it does nothing. Nothing that this session admitted is sent '
    + 'or used any more.',
  examples: ['$ sallyport logout', '$ sallyport logout --json'],
  session: 'none',
  exits: ['no_state', 'locked', 'damaged'],
  text: ({ ended, root }) =>
    (ended ? `Session ${root} has ended.\n` : 'There is no open session.\n'),
  run: async (_request, deps) => {
    const gov = await deps.gov('stop')
    const token = currentToken(gov, deps.env)
    if (token === null) {
      // One that ended here while nobody could be told is over for nobody else until it was.
      await gov.store.fresh()
      return { ended: false, rootId: null, recorded: null }
    }
    const forget = (): void => void dropToken(tokenPath(gov.store.dir), token)
    const ended = await logOut(gov, token).catch((error: unknown) => {
      if (error instanceof SallyportError && error.code === 'stop_out_of_reach') forget()
      throw error
    })
    forget()
    await afterStop(deps, gov, ended.recorded)
    return ended
  },
})

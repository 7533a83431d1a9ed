import { sessionLogout, type LogoutDocument } from '../../../governance/session/contract.js'
import { logout } from '../../../governance/stops/people.js'
import { dropToken, tokenPath } from '../../../governance/session/token.js'
import { currentToken } from '../../login.js'
import { afterStop } from '../../mutate.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

const definition: VerbDefinition<LogoutDocument> = {
  meta: {
    name: 'logout',
    summary: 'end your session',
    description:
      'Ends the session whose token is in use and forgets the token. Also ends a session that is '
      + 'idle; where there is none there is nothing to do. Nothing that this session admitted is '
      + 'contacted or adopted any more.',
    examples: ['$ sallyport logout', '$ sallyport logout --json'],
    session: 'none',
    damage: 'refuses',
    exits: ['no_state', 'locked', 'damaged'],
    json: sessionLogout,
  },
  text: ({ ended, root }) =>
    (ended ? `Session ${root} has ended.\n` : 'There is no open session.\n'),
}

/** Logs out. */
export const run: Run<object, LogoutDocument> = async (_options, deps) => {
  const gov = await deps.gov('write')
  const token = currentToken(gov, deps.env)
  if (token === null) return sessionLogout.answer({ ended: false, rootId: null, recorded: null })
  const ended = await logout(gov, token)
  dropToken(tokenPath(gov.store.dir), token)
  await afterStop(deps, gov, ended.recorded)
  return sessionLogout.answer(ended)
}

/** Parses a line of `logout`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

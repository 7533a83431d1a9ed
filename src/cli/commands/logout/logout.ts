import * as v from 'valibot'
import { logout } from '../../../governance/session/end.js'
import { dropToken, tokenPath } from '../../../governance/session/token.js'
import { currentToken } from '../../login.js'
import { recoverFirst } from '../../mutate.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

const schema = v.strictObject({ ended: v.boolean(), root: v.nullable(v.string()) })
/** Result of `logout`: whether a session was ended now, and which one the token belongs to. */
export type LogoutResult = v.InferOutput<typeof schema>

const definition: VerbDefinition<LogoutResult> = {
  meta: {
    name: 'logout',
    summary: 'end your session',
    description:
      'Ends the session whose token is in use and forgets the token. Also ends a session that is '
      + 'idle; where there is none there is nothing to do. Nothing that this session admitted is '
      + 'contacted or adopted any more.',
    examples: ['$ sallyport logout', '$ sallyport logout --json'],
    session: 'none',
    exits: ['no_state', 'locked', 'damaged'],
    json: { version: 1, schema },
  },
  text: ({ ended, root }) =>
    (ended ? `Session ${root} has ended.\n` : 'There is no open session.\n'),
}

/** Logs out. */
export const run: Run<object, LogoutResult> = async (_options, deps) => {
  const gov = await deps.gov('write')
  const token = currentToken(gov, deps.env)
  if (token === null) return { ended: false, root: null }
  const { ended, rootId } = await logout(gov, token)
  dropToken(tokenPath(gov.store.dir), token)
  await recoverFirst(deps, gov)
  return { ended, root: rootId }
}

/** Parses a line of `logout`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

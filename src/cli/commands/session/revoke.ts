import * as v from 'valibot'
import { revokeSession } from '../../../governance/session/end.js'
import { dropToken, tokenPath } from '../../../governance/session/token.js'
import { currentToken } from '../../login.js'
import { loginToMutate } from '../../mutate.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { sessionFactsShape, sessionText } from './facts.js'

/** Arguments of `session revoke`. */
export interface SessionRevokeOptions {
  readonly session: string
}

const schema = v.strictObject({ root: sessionFactsShape, ended: v.boolean() })
/** Result of `session revoke`: `ended` says whether it was ended now. */
export type SessionRevoked = v.InferOutput<typeof schema>

const definition: VerbDefinition<SessionRevoked> = {
  meta: {
    name: 'session revoke',
    summary: 'end a session by its id',
    description:
      'Ends one of your sessions, or that of any other owner: ending only ever stops something, '
      + 'and is audited. Nothing that the session admitted is contacted or adopted any more.',
    examples: ['$ sallyport session revoke root_0190f…'],
    session: 'required',
    exits: ['unauthorized', 'not_found', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema },
  },
  flags: (command) => command.argument('<session>', 'id of the session'),
  text: ({ root }) => sessionText(root),
}

/** Revokes. */
export const run: Run<SessionRevokeOptions, SessionRevoked> = async (options, deps) => {
  const { gov, session } = await loginToMutate(deps)
  const { session: root, ended } = await revokeSession(gov, session, options.session)
  const token = currentToken(gov, deps.env)
  if (root.id === session.root.root_id && token !== null) {
    dropToken(tokenPath(gov.store.dir), token)
  }
  return { root, ended }
}

/** Parses a line of `session revoke`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

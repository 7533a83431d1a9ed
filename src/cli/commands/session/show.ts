import * as v from 'valibot'
import { sessionFacts } from '../../../governance/session/live.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { sessionFactsShape, sessionText } from './facts.js'

const schema = v.strictObject({ root: sessionFactsShape })
/** Result of `session show`. */
export type SessionShow = v.InferOutput<typeof schema>

const definition: VerbDefinition<SessionShow> = {
  meta: {
    name: 'session show',
    summary: 'show the session in use',
    description: 'Shows whose session is in use and when it ends. Looking counts as a use.',
    examples: ['$ sallyport session show', '$ sallyport session show --json'],
    session: 'required',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: { version: 1, schema },
  },
  text: ({ root }) => sessionText(root),
}

/** Shows. */
export const run: Run<object, SessionShow> = async (_options, deps) => {
  const { gov, session } = await deps.login('read')
  return { root: sessionFacts(gov.store.read(), gov, session.root) }
}

/** Parses a line of `session show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

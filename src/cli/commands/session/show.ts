import { sessionShow, type SessionShowDocument } from '../../../governance/session/contract.js'
import { sessionFacts } from '../../../governance/session/live.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { sessionText } from './text.js'

const definition: VerbDefinition<SessionShowDocument> = {
  meta: {
    name: 'session show',
    summary: 'show the session in use',
    description: 'Shows whose session is in use and when it ends. Looking counts as a use.',
    examples: ['$ sallyport session show', '$ sallyport session show --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: sessionShow,
  },
  text: ({ root }) => sessionText(root),
}

/** Shows. */
export const run: Run<object, SessionShowDocument> = async (_options, deps) => {
  const { gov, session } = await deps.login('read')
  return sessionShow.answer(sessionFacts(gov.store.read(), gov, session.root))
}

/** Parses a line of `session show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

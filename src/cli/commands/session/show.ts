import { sessionShow } from '../../../governance/session/contract.js'
import { sessionFacts } from '../../../governance/session/live.js'
import { verb } from '../../verb.js'
import { sessionText } from './text.js'

export const show = verb(sessionShow, {
  summary: 'show the session in use',
  description: 'Shows whose session is in use and when it ends. Looking counts as a use.',
  examples: ['$ sallyport session show', '$ sallyport session show --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  text: ({ root }) => sessionText(root),
  run: async (_request, deps) => {
    const { gov, session } = await deps.login('read')
    return sessionFacts(gov.store.read(), gov, session.root)
  },
})

import { readConfiguration } from '../../../fabric/configuration.js'
import { configShow } from '../../../fabric/configuration-contract.js'
import { verb } from '../../verb.js'
import { configurationText } from './text.js'

export const show = verb(configShow, {
  summary: 'show the model configuration over both routes',
  description:
    'Shows the text capability, the gateway and the policy revision that a save has to name. '
    + 'It contacts nobody and changes nothing.',
  examples: ['$ sallyport config show', '$ sallyport config show --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  text: configurationText,
  run: async (_request, deps) => {
    const { gov, session } = await deps.login()
    return readConfiguration(gov, session)
  },
})

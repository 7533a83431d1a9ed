import {
  readConfiguration, type Configuration,
} from '../../../fabric/configuration.js'
import { configShow } from '../../../fabric/configuration-contract.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { configurationText } from './text.js'

const definition: VerbDefinition<Configuration> = {
  meta: {
    name: 'config show',
    summary: 'show the model configuration over both routes',
    description:
      'Shows the text capability, the gateway and the policy revision that a save has to name. '
      + 'It contacts nobody and changes nothing.',
    examples: ['$ sallyport config show', '$ sallyport config show --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: configShow,
  },
  text: configurationText,
}

/** Reads the configuration. */
export const run: Run<object, Configuration> = async (_options, deps) => {
  const { gov, session } = await deps.login()
  return configShow.answer(readConfiguration(gov, session))
}

/** Parses a line of `config show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)

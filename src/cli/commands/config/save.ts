import { configurationBytesMax, type Configuration } from '../../../fabric/configuration.js'
import { configSave } from '../../../fabric/configuration-contract.js'
import { fail } from '../../../base/errors.js'
import { readInput } from '../../input.js'
import { loginToMutate } from '../../mutate.js'
import { saveListing, voidAnswersFlag } from '../../voids.js'
import type { VerbRecord } from '../../verb.js'
import { configurationText } from './text.js'

/** Flags of `config save`. */
export interface ConfigSaveOptions {
  readonly from?: string
  readonly voidAnswers?: boolean
}

export const save: VerbRecord<ConfigSaveOptions, Configuration> = {
  summary: 'save the model configuration from one document',
  description:
    'Takes {"alpha_text":{…},"gateway":{…},"expected_policy_revision":N}, strictly. A block '
    + 'that is left out stays; null is refused; one save changes one of the two blocks only.',
  examples: [
    '$ sallyport config save --from configuration.json',
    '$ sallyport config save --from - --json < configuration.json',
  ],
  session: 'required',
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'blocked', 'no_state', 'locked', 'damaged'],
  json: configSave,
  flags: (command) => command
    .option('--from <file>', 'the document; - for stdin')
    .option(...voidAnswersFlag),
  text: configurationText,
  run: async (options, deps) => {
    if (options.from === undefined) throw fail.usage('input_required', 'Give --from FILE or -.')
    const bytes = await readInput(deps, {
      from: options.from, flag: '--from', bytesMax: configurationBytesMax,
    })
    const opened = await loginToMutate(deps)
    return configSave.answer(await saveListing(deps, opened, { bytes }, options))
  },
}

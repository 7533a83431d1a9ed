/** `sallyport config`: the whole model configuration. */
import { fail } from '../../../base/errors.js'
import { configSave } from '../../../fabric/configuration-contract.js'
import { configurationBytesMax, type Configuration } from '../../../fabric/configuration.js'
import { config } from '../../../fabric/operations/config.js'
import { readInput } from '../../input.js'
import type { View } from '../../output.js'
import type { VerbRecord } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { saveListing, voidAnswersFlag } from '../../voids.js'
import { workFor } from '../../work.js'
import { alphaText } from '../alpha/text.js'
import { gatewayText } from '../gateway/text.js'

/** Both routes as text, each under its name. */
const configurationText = (configuration: Configuration, view: View): string => {
  const { alpha_text, gateway, policy_revision } = configuration
  return [
    `${view.paint('bold', 'alpha_text')}\n${alphaText({ alpha_text, policy_revision }, view)}`,
    `${view.paint('bold', 'gateway')}\n${gatewayText({ gateway, policy_revision }, view)}`,
  ].join('\n')
}

export const show = verbOf(config.show, {
  summary: 'show the model configuration over both routes',
  description:
    'Shows the text capability, the gateway and the policy revision that a save has to name. '
    + 'It contacts nobody and changes nothing.',
  examples: ['$ sallyport config show', '$ sallyport config show --json'],
  text: configurationText,
})

type ConfigSaveOptions = { readonly from?: string; readonly voidAnswers?: boolean }

export const save: VerbRecord<ConfigSaveOptions, Configuration> = {
  summary: 'save the model configuration from one document',
  description:
    'Takes {"alpha_text":{…},"gateway":{…},"expected_policy_revision":N}, strictly. A block '
    + 'that is left out stays; null is refused; one save changes one of the two blocks only.',
  examples: [
    '$ sallyport config save --from configuration.json',
    '$ sallyport config save --from - --json < configuration.json',
  ],
  exits: ['rejected', 'conflict', 'blocked', 'locked'],
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
    const work = await workFor(deps, 'mutate')
    return configSave.answer(await saveListing(deps, work, { bytes }, options))
  },
}

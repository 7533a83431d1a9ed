import type { Configuration } from '../../../fabric/configuration.js'
import type { View } from '../../output.js'
import { alphaText } from '../alpha/text.js'
import { gatewayText } from '../gateway/text.js'

/** Both routes as text, each under its name. */
export const configurationText = (configuration: Configuration, view: View): string => {
  const { alpha_text, gateway, policy_revision } = configuration
  return [
    `${view.paint('bold', 'alpha_text')}\n${alphaText({ alpha_text, policy_revision }, view)}`,
    `${view.paint('bold', 'gateway')}\n${gatewayText({ gateway, policy_revision }, view)}`,
  ].join('\n')
}

import { alphaShow } from '../../../alpha/setup-contract.js'
import { showAlpha } from '../../../alpha/show.js'
import { operation } from '../../../fabric/operation.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { verbOf } from '../../verb-of.js'
import { alphaText } from './text.js'

export const show = verbOf(operation(alphaShow, 'read', ({ gov, session }) =>
  showAlpha(gov, session, deploymentProfile(gov.store).provider)), {
  summary: 'show the set-up of the text capability',
  description:
    'Shows the route, its limits, the shared ceiling, whether a key is stored, whether the '
    + 'consent is current, and the status with its reason. It contacts nobody: `configured` '
    + 'says nothing about the provider.',
  examples: ['$ sallyport alpha show', '$ sallyport alpha show --json'],
  text: alphaText,
})

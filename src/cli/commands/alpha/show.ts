import { alphaShow } from '../../../alpha/setup-contract.js'
import { showAlpha } from '../../../alpha/show.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { verb } from '../../verb.js'
import { alphaText } from './text.js'

export const show = verb(alphaShow, {
  summary: 'show the set-up of the text capability',
  description:
    'Shows the route, its limits, the shared ceiling, whether a key is stored, whether the '
    + 'consent is current, and the status with its reason. It contacts nobody: `configured` '
    + 'says nothing about the provider.',
  examples: ['$ sallyport alpha show', '$ sallyport alpha show --json'],
  text: alphaText,
  run: async (_request, deps) => {
    const { gov, session } = await deps.login('read')
    return showAlpha(gov, session, deploymentProfile(gov.store).provider)
  },
})

import { acknowledgeAlpha, consentToAcknowledge } from '../../../alpha/acknowledge.js'
import { alphaConsentStatement } from '../../../alpha/consent-text.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { alphaAcknowledge } from '../../../alpha/setup-contract.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { acknowledgeFlag } from '../../flags.js'
import type { VerbRecord } from '../../verb.js'
import { workFor } from '../../work.js'
import { alphaText } from './text.js'

type AcknowledgeOptions = { readonly acknowledgePlaintextEgress?: boolean }

export const acknowledge: VerbRecord<AcknowledgeOptions, AlphaShow> = {
  summary: 'acknowledge for yourself the consent that another owner gave',
  description:
    'Whoever saves the set-up acknowledges that the provider sees plaintext. Every other owner '
    + 'does so here before their first question, to the text that is shown, and again after '
    + 'each new consent. It changes nothing else: no policy revision, no set-up.',
  examples: [
    '$ sallyport alpha acknowledge',
    '$ sallyport alpha acknowledge --acknowledge --json',
  ],
  exits: ['rejected', 'conflict', 'locked'],
  json: alphaAcknowledge,
  flags: (command) => command
    .addOption(acknowledgeFlag(
      '--acknowledge-plaintext-egress', 'the provider sees question and answer in plaintext')),
  text: alphaText,
  run: async (options, deps) => {
    const { gov, session } = await workFor(deps, 'mutate')
    const { provider } = deploymentProfile(gov.store)
    const consentId = consentToAcknowledge(gov.store.read())
    let acknowledged = options.acknowledgePlaintextEgress === true
    if (acknowledged || deps.interactive) deps.note(`\n${alphaConsentStatement(provider).text}`)
    if (!acknowledged && deps.interactive) {
      await deps.confirm('I acknowledge this plaintext egress', '--acknowledge')
      acknowledged = true
    }
    return alphaAcknowledge.answer(
      await acknowledgeAlpha(gov, session, provider, { consentId, acknowledged }),
    )
  },
}

import type { ConsentStatement } from '../../../alpha/consent-text.js'
import { alphaLimits } from '../../../alpha/constants.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { fail } from '../../../base/errors.js'
import type { VerbDeps } from '../../bound.js'
import type { SetupBlock } from './setup.js'

/** What the form offers where nothing is saved yet. */
const suggested = {
  max_output_tokens: 512,
  timeout_seconds: 30,
  request_cost_bound_microusd: 20_000,
  spend_ceiling_microusd: 1_000_000,
} as const

const integerOf = (text: string, name: string): number => {
  if (/^(?:0|[1-9][0-9]{0,9})$/.test(text)) return Number(text)
  throw fail.rejected('form_number', `${name} must be a plain integer.`, {
    details: { field: name },
  })
}

const secondsOf = (text: string): number => {
  if (/^[0-9]{1,2}(?:\.[0-9]{1,6})?$/.test(text)) return Number(text)
  throw fail.rejected('form_number', 'timeout_seconds must be a number from 1 to 45.', {
    details: { field: 'timeout_seconds' },
  })
}

/**
 * The set-up as a form. It opens with the capability as it is saved, disabled where nothing is
 * every confirmation starts unchecked, and the statement is shown before it.
 */
export const fillForm = async (
  deps: VerbDeps, current: AlphaShow, statement: ConsentStatement,
): Promise<SetupBlock> => {
  const prompter = await deps.ask('Give the flags, see `sallyport alpha setup --help`.')
  const saved = current.alpha_text
  const now = saved ?? suggested
  deps.note(`The text capability is ${saved?.enabled ? 'enabled' : 'disabled'}.`)
  const text = async (name: string, initial: number): Promise<string> =>
    prompter.text(`${name}:`, String(initial))
  const maxTokens = await text('max_output_tokens', now.max_output_tokens)
  const timeout = await text('timeout_seconds', now.timeout_seconds)
  const bound = await text('request_cost_bound_microusd', now.request_cost_bound_microusd)
  const ceiling = await text('spend_ceiling_microusd', now.spend_ceiling_microusd)
  const key = await prompter.secret(
    saved?.key_present ? 'API key (Enter keeps the stored one):' : 'API key:',
  )
  if (key !== '') deps.secrets.add(key)
  if (Buffer.byteLength(key) > alphaLimits.apiKeyBytesMax) {
    throw fail.rejected('secret_length', `A key has at most ${alphaLimits.apiKeyBytesMax} bytes.`)
  }
  deps.note(`\n${statement.text}`)
  const acknowledged = await prompter.confirm('I acknowledge this plaintext egress')
  const enabled = acknowledged && await prompter.confirm('Enable the capability now')
  return {
    alpha_text: {
      enabled,
      ...(key === '' ? {} : { api_key: key }),
      max_output_tokens: integerOf(maxTokens, 'max_output_tokens'),
      timeout_seconds: secondsOf(timeout),
      request_cost_bound_microusd: integerOf(bound, 'request_cost_bound_microusd'),
      spend_ceiling_microusd: integerOf(ceiling, 'spend_ceiling_microusd'),
      plaintext_provider_egress_acknowledged: acknowledged,
    },
    expected_policy_revision: current.policy_revision,
  }
}

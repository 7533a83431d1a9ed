import { alphaConsentStatement } from '../../../alpha/consent-text.js'
import { alphaLimits, type AlphaProvider } from '../../../alpha/constants.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { alphaNeedsAcknowledgment } from '../../../alpha/setup-save.js'
import { parseSetupInput } from '../../../alpha/setup.js'
import { fail } from '../../../base/errors.js'
import type { Gov } from '../../../governance/context.js'
import type { VerbDeps } from '../../verb.js'
import { requireYes } from '../../ask-verdict.js'
import { differenceOf } from '../../difference.js'
import { changeText, nothingChanges, refusalOf } from '../../form.js'
import type { Prompter } from '../../prompt.js'
import { keyFileWord } from '../../typed.js'

/** A save as the configuration use case takes it; parsed strictly there. */
export interface SetupBlock {
  alpha_text: Record<string, unknown>
  expected_policy_revision?: number
}

/** What the form offers where nothing is saved yet. */
const suggested = {
  max_output_tokens: 512,
  timeout_seconds: 30,
  request_cost_bound_microusd: 20_000,
  spend_ceiling_microusd: 1_000_000,
} as const

const numberNames = [
  'max_output_tokens', 'timeout_seconds', 'request_cost_bound_microusd', 'spend_ceiling_microusd',
] as const

const formOf = (name: (typeof numberNames)[number], text: string): string | null => {
  if (name === 'timeout_seconds') {
    return /^[0-9]{1,2}(?:\.[0-9]{1,6})?$/.test(text)
      ? null : 'timeout_seconds must be a number from 1 to 45.'
  }
  return /^(?:0|[1-9][0-9]{0,9})$/.test(text) ? null : `${name} must be a plain integer.`
}

/** What is wrong with an answer, its range included; null for a good one. */
const problemOf = async (
  name: (typeof numberNames)[number], text: string,
): Promise<string | null> =>
  formOf(name, text) ?? refusalOf(() => { parseSetupInput({ [name]: Number(text) }) })

const numberOf = async (
  prompter: Prompter, name: (typeof numberNames)[number], initial: number,
): Promise<number> => {
  const text = await prompter.text(
    `${name}:`, String(initial), (given) => problemOf(name, given))
  const problem = await problemOf(name, text)
  if (problem === null) return Number(text)
  throw fail.rejected('form_number', problem, { details: { field: name } })
}

const keyOf = async (
  deps: VerbDeps, prompter: Prompter, isStored: boolean,
): Promise<{ readonly api_key?: string }> => {
  const key = await prompter.secret(isStored ? 'API key (Enter keeps the stored one):' : 'API key:')
  if (key === '') return {}
  deps.secrets.add(key)
  if (Buffer.byteLength(key) > alphaLimits.apiKeyBytesMax) {
    throw fail.rejected('secret_length', `A key has at most ${alphaLimits.apiKeyBytesMax} bytes.`)
  }
  return { api_key: key }
}

interface Form {
  readonly deps: VerbDeps
  readonly provider: AlphaProvider
  readonly prompter: Prompter
}

/** What the form was filled in with, and the yes that it still needs. */
interface FilledForm {
  readonly block: SetupBlock
  /** The line that says the same, without its consent. */
  readonly typed: readonly string[]
  /**
   * Whoever saves agrees once, unchecked: to the statement, where the save needs a consent,
   * and else to the change that was shown. Throws `cancelled`.
   */
  agree(): Promise<void>
}

const agreed = async (
  { deps, provider, prompter }: Form, needs: boolean,
): Promise<void> => {
  if (!needs) return requireYes(prompter, 'Save this change')
  deps.note(`\n${alphaConsentStatement(provider).text}`)
  await requireYes(prompter, 'I acknowledge this plaintext egress')
}

const flagOf = (name: (typeof numberNames)[number]): string => `--${name.replaceAll('_', '-')}`

/** A flag left out keeps what is saved: only what differs stands in it. */
const typedOf = (
  saved: AlphaShow['alpha_text'], { enables, hasKey, numbers }: {
    readonly enables: boolean
    readonly hasKey: boolean
    readonly numbers: Partial<Record<(typeof numberNames)[number], number>>
  },
): readonly string[] => [
  'alpha', 'setup', ...(enables ? ['--enable'] : []),
  ...numberNames.filter((name) => saved?.[name] !== numbers[name])
    .flatMap((name) => [flagOf(name), String(numbers[name])]),
  ...(hasKey ? ['--api-key-file', keyFileWord] : []),
]

/**
 * The set-up as a form. It opens with the capability as it is saved, disabled where nothing is
 * and asks only for what it would add: an enabled route stays enabled, and a consent that
 * is there stays. What would change is shown before it is saved; Enter throughout changes nothing,
 * and then null is given.
 */
export const fillForm = async (
  deps: VerbDeps, gov: Gov, current: AlphaShow, provider: AlphaProvider,
): Promise<FilledForm | null> => {
  const prompter = await deps.ask('Give the flags, see `sallyport alpha setup --help`.')
  const saved = current.alpha_text
  deps.note(saved?.enabled
    ? 'The text capability is enabled, and stays so; to end it: `sallyport alpha setup --disable`'
    : 'The text capability is disabled.')
  const numbers: Partial<Record<(typeof numberNames)[number], number>> = {}
  for (const name of numberNames) {
    numbers[name] = await numberOf(prompter, name, (saved ?? suggested)[name])
  }
  const key = await keyOf(deps, prompter, saved?.key_present ?? false)
  const enabled = saved?.enabled === true || await prompter.confirm('Enable the capability now')
  const changes = [
    ...differenceOf({ enabled: false, ...saved }, { enabled, ...numbers }),
    ...('api_key' in key ? ['  API key: a new one'] : []),
  ]
  const isLapsed = saved?.enabled === true && !saved.consent_current
  if (changes.length === 0 && !isLapsed) {
    deps.note(nothingChanges)
    return null
  }
  deps.note(changeText([...changes, ...(isLapsed ? ['  consent: given anew'] : [])]))
  const block = {
    enabled, ...key, ...numbers, plaintext_provider_egress_acknowledged: false,
  }
  const needs = alphaNeedsAcknowledgment(gov, provider, parseSetupInput(block))
  return {
    block: {
      alpha_text: { ...block, plaintext_provider_egress_acknowledged: needs },
      expected_policy_revision: current.policy_revision,
    },
    typed: typedOf(saved, {
      enables: enabled && (saved?.enabled !== true || isLapsed), hasKey: 'api_key' in key, numbers,
    }),
    agree: () => agreed({ deps, provider, prompter }, needs),
  }
}

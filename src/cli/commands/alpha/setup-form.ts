import { alphaConsentStatement } from '../../../alpha/consent-text.js'
import { alphaLimits, type AlphaProvider } from '../../../alpha/constants.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { alphaNeedsAcknowledgment } from '../../../alpha/setup-save.js'
import { parseSetupInput } from '../../../alpha/setup.js'
import { fail } from '../../../base/errors.js'
import { dollarsText } from '../../../base/money.js'
import type { Gov } from '../../../governance/context.js'
import type { VerbDeps } from '../../verb.js'
import { requireYes } from '../../ask-verdict.js'
import { differenceOf } from '../../difference.js'
import { changeText, moneyLimit, nothingChanges, refusalOf } from '../../form.js'
import { readSecret } from '../../input.js'
import type { Prompter } from '../../prompt.js'
import { keyFileWord } from '../../typed.js'
import { rehearsalOf, type Rehearsal } from '../sandbox/rehearsal.js'

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
type NumberName = (typeof numberNames)[number]

const questions: Readonly<Record<NumberName, string>> = {
  max_output_tokens: 'Longest answer, in tokens:',
  timeout_seconds: 'Longest wait for an answer, in seconds:',
  request_cost_bound_microusd: 'Hold for one question:',
  spend_ceiling_microusd: 'Ceiling of all routes together:',
}

const isMoney = (name: NumberName): boolean => name.endsWith('_microusd')

/** The number that was typed, an amount in micro-USD; null for none. */
const valueOf = (name: NumberName, text: string): number | null =>
  (isMoney(name) ? moneyLimit.read(text)
    : /^(?:0|[1-9][0-9]{0,9}(?:\.[0-9]{1,6})?)$/.test(text) ? Number(text) : null)

/** As it is typed: dollars for an amount. */
const initialOf = (name: NumberName, value: number): string =>
  (isMoney(name) ? `${dollarsText(value).replace(/[$,]/g, '')}usd` : String(value))

const formOf = (name: NumberName, text: string): string | null => {
  if (name === 'timeout_seconds') {
    return /^[0-9]{1,2}(?:\.[0-9]{1,6})?$/.test(text)
      ? null : 'timeout_seconds must be a number from 1 to 45.'
  }
  return valueOf(name, text) !== null ? null
    : isMoney(name) ? `Type ${moneyLimit.form}.` : `${name} must be a plain integer.`
}

/** What is wrong with an answer, its range included; null for a good one. */
const problemOf = async (
  name: NumberName, text: string,
): Promise<string | null> =>
  formOf(name, text) ?? refusalOf(() => { parseSetupInput({ [name]: valueOf(name, text) }) })

const numberOf = async (
  prompter: Prompter, name: NumberName, initial: number,
): Promise<number> => {
  const text = await prompter.text(
    questions[name], initialOf(name, initial), (given) => problemOf(name, given))
  const problem = await problemOf(name, text)
  const value = valueOf(name, text)
  if (problem === null && value !== null) return value
  throw fail.rejected('form_number', problem ?? 'It is no number.', { details: { field: name } })
}

/** The key that was given, and what names its file on a line; null for none. */
interface FilledKey {
  readonly word: string | null
  readonly block: { readonly api_key?: string }
}

const sandboxKey = async (deps: VerbDeps, from: string): Promise<FilledKey> => ({
  word: from,
  block: {
    api_key: await readSecret(deps, {
      from, flag: '--api-key-file', bytesMax: alphaLimits.apiKeyBytesMax + 2,
    }),
  },
})

const keyOf = async (
  deps: VerbDeps, prompter: Prompter, isStored: boolean, rehearsal: Rehearsal | null,
  isNeeded = false,
): Promise<FilledKey> => {
  const asked = isStored ? 'API key (Enter keeps the stored one):'
    : rehearsal === null ? 'API key:' : 'API key (Enter takes that of the sandbox):'
  const key = await prompter.secret(asked, (text) =>
    (isNeeded && text.trim() === '' ? 'A question needs a key; Ctrl-C leaves the form.' : null))
  if (key === '' && !isStored && rehearsal !== null) {
    return sandboxKey(deps, rehearsal.keyFiles.provider)
  }
  if (key === '') return { word: null, block: {} }
  deps.secrets.add(key)
  if (Buffer.byteLength(key) > alphaLimits.apiKeyBytesMax) {
    throw fail.rejected('secret_length', `A key has at most ${alphaLimits.apiKeyBytesMax} bytes.`)
  }
  return { word: keyFileWord, block: { api_key: key } }
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

const flagOf = (name: NumberName): string => `--${name.replaceAll('_', '-')}`

/** A flag left out keeps what is saved: only what differs stands in it. */
const typedOf = (
  saved: AlphaShow['alpha_text'], { enables, keyWord, numbers }: {
    readonly enables: boolean
    readonly keyWord: string | null
    readonly numbers: Partial<Record<NumberName, number>>
  },
): readonly string[] => [
  'alpha', 'setup', ...(enables ? ['--enable'] : []),
  ...numberNames.filter((name) => saved?.[name] !== numbers[name])
    .flatMap((name) => [flagOf(name), String(numbers[name])]),
  ...(keyWord === null ? [] : ['--api-key-file', keyWord]),
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
  const numbers: Partial<Record<NumberName, number>> = {}
  for (const name of numberNames) {
    numbers[name] = await numberOf(prompter, name, (saved ?? suggested)[name])
  }
  const rehearsal = await rehearsalOf(deps, { provider })
  const isStored = saved?.key_present ?? false
  const first = await keyOf(deps, prompter, isStored, rehearsal)
  const enabled = saved?.enabled === true || await prompter.confirm('Enable the capability now')
  const lacksKey = enabled && !isStored && first.word === null
  const { word: keyWord, block: key } = lacksKey
    ? await keyOf(deps, prompter, false, null, true) : first
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
      enables: enabled && (saved?.enabled !== true || isLapsed), keyWord, numbers,
    }),
    agree: () => agreed({ deps, provider, prompter }, needs),
  }
}

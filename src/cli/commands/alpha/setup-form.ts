import { alphaConsentStatement } from '../../../alpha/consent-text.js'
import { alphaLimits, type AlphaProvider } from '../../../alpha/constants.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { alphaNeedsAcknowledgment } from '../../../alpha/setup-save.js'
import { parseSetupInput } from '../../../alpha/setup.js'
import { fail } from '../../../base/errors.js'
import { moneyText } from '../../../base/money.js'
import type { Gov } from '../../../governance/context.js'
import { ceilingOwner } from '../../../governance/policy/ceiling.js'
import type { VerbDeps } from '../../verb.js'
import { requireYes } from '../../ask-verdict.js'
import { differenceOf } from '../../difference.js'
import {
  asFirst, askLimit, changeText, moneyLimit, nothingChanges, readInteger, refusalOf, secondsLimit,
  standingCeiling, type Limit,
} from '../../form.js'
import { readSecret } from '../../input.js'
import type { Prompter } from '../../prompt.js'
import { standingText, type FilledForm } from '../../set-up-form.js'
import { flagWords, keyFileWord } from '../../typed.js'
import { rehearsalOf, type Rehearsal } from '../sandbox/rehearsal.js'

/** A save as the configuration use case takes it; parsed strictly there. */
export interface SetupBlock {
  alpha_text: Record<string, unknown>
  expected_policy_revision?: number
}

const money = { min: alphaLimits.microusdMin, max: alphaLimits.microusdMax }

/** The numbers of the form, in order; the ceiling comes before what it is the range of. */
const numbers = {
  max_output_tokens: {
    message: 'Longest answer:', offers: [128, 256, 512, 1_024],
    label: (tokens: number) => `${tokens} tokens`,
    read: readInteger, form: 'a plain positive integer',
    range: { min: alphaLimits.outputTokensMin, max: alphaLimits.outputTokensMax },
  },
  timeout_seconds: {
    ...secondsLimit, message: 'Longest wait for an answer:', offers: [15, 30, 45],
    range: { min: alphaLimits.timeoutSecondsMin, max: alphaLimits.timeoutSecondsMax },
  },
  spend_ceiling_microusd: {
    ...moneyLimit, message: 'Ceiling of all routes together:',
    offers: [500_000, 1_000_000, 5_000_000, 20_000_000], range: money,
  },
  request_cost_bound_microusd: {
    ...moneyLimit, message: 'Bound for one question:',
    offers: [10_000, 20_000, 50_000, 100_000], range: money,
  },
} as const satisfies Record<string, Omit<Limit, 'now' | 'keep'>>

type Numbers = Record<keyof typeof numbers, number>

/** What Enter alone takes where nothing is saved yet. */
const suggested: Numbers = {
  max_output_tokens: 512, timeout_seconds: 30, spend_ceiling_microusd: 1_000_000,
  request_cost_bound_microusd: 20_000,
}

const names = Object.keys(numbers) as readonly (keyof Numbers)[]

/** Asks for one. `standing` is what is saved; what no longer fits below `most` is not offered. */
const askNumber = async (
  prompter: Prompter, name: keyof Numbers, standing: number | undefined, most: number,
): Promise<number> => {
  const { range: { min, max }, ...parts } = numbers[name]
  const now = Math.min(standing ?? suggested[name], most)
  const label = parts.label(now)
  const given = await askLimit(prompter, {
    ...parts, now, range: { min, max: Math.min(max, most) },
    keep: standing === undefined ? asFirst(label) : now === standing ? `keep ${label}` : label,
  })
  return given ?? now
}

/**
 * Asks for all of them. What is saved stays under Enter, the one ceiling also where it is new; one
 * that belongs to the gateway route is told and not asked for, since this save could not move it
 * (A-085).
 */
const askNumbers = async (
  { deps, prompter, gov }: { deps: VerbDeps, prompter: Prompter, gov: Gov },
  saved: AlphaShow['alpha_text'],
): Promise<Numbers> => {
  const ceiling = standingCeiling(gov)
  const isGateways = ceiling !== null && ceilingOwner(gov.store.read()) === 'gateway'
  const standing: Partial<Numbers> = saved
    ?? (ceiling === null ? {} : { spend_ceiling_microusd: ceiling })
  const filled = { ...suggested }
  for (const name of names) {
    if (name === 'spend_ceiling_microusd' && isGateways) {
      filled[name] = ceiling
      deps.note(`The ceiling of all routes together is ${moneyText(ceiling)}. To move it: `
        + '`sallyport gateway setup --spend-ceiling USD`')
      continue
    }
    const most = name === 'request_cost_bound_microusd' ? filled.spend_ceiling_microusd : Infinity
    filled[name] = await askNumber(prompter, name, standing[name], most)
  }
  return filled
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
    (isNeeded && text.trim() === '' ? 'A question needs a key; Ctrl-C leaves the form.'
      : refusalOf(() => { parseSetupInput({ api_key: text }) })))
  if (key.trim() === '' && !isStored && rehearsal !== null) {
    return sandboxKey(deps, rehearsal.keyFiles.provider)
  }
  if (key.trim() === '') return { word: null, block: {} }
  deps.secrets.add(key)
  if (Buffer.byteLength(key) > alphaLimits.apiKeyBytesMax) {
    throw fail.rejected('secret_length', `A key has at most ${alphaLimits.apiKeyBytesMax} bytes.`)
  }
  return { word: keyFileWord, block: { api_key: key } }
}

/** Who is asked, of which provider. */
export interface Form {
  readonly deps: VerbDeps
  readonly provider: AlphaProvider
  readonly prompter: Prompter
}

const agreed = async ({ deps, provider, prompter }: Form, needs: boolean): Promise<void> => {
  if (!needs) return requireYes(prompter, 'Save this change')
  deps.note(`\n${alphaConsentStatement(provider).text}`)
  await requireYes(prompter, 'I acknowledge this plaintext egress')
}

/** A flag left out keeps what is saved: only what differs stands in it. */
const typedOf = (
  saved: AlphaShow['alpha_text'], { enables, keyWord, filled }: {
    readonly enables: boolean
    readonly keyWord: string | null
    readonly filled: Numbers
  },
): readonly string[] => [
  'alpha', 'setup', ...(enables ? ['--enable'] : []),
  ...names.filter((name) => saved?.[name] !== filled[name])
    .flatMap((name) => flagWords(`--${name.replaceAll('_', '-')}`, filled[name])),
  ...(keyWord === null ? [] : ['--api-key-file', keyWord]),
]

const notSaved = { enabled: false, status: 'disabled', reason: null } as const

/**
 * The set-up as a form. It opens with the capability as it is saved, disabled where nothing is
 * and asks only for what it would add: an enabled route stays enabled, and a consent that
 * is there stays. What would change is shown before it is saved; Enter throughout changes nothing,
 * and then null is given.
 */
export const fillForm = async (
  { deps, provider, prompter }: Form, gov: Gov, current: AlphaShow,
): Promise<FilledForm | null> => {
  const saved = current.alpha_text
  deps.note(standingText('The text capability', saved ?? notSaved, 'alpha setup'))
  const filled = await askNumbers({ deps, prompter, gov }, saved)
  const rehearsal = await rehearsalOf(deps, { provider })
  const isStored = saved?.key_present ?? false
  const first = await keyOf(deps, prompter, isStored, rehearsal)
  const enabled = saved?.enabled === true || await prompter.confirm('Enable the capability now')
  const lacksKey = enabled && !isStored && first.word === null
  const { word: keyWord, block: key } = lacksKey
    ? await keyOf(deps, prompter, false, null, true) : first
  const changes = [
    ...differenceOf({ enabled: false, ...saved }, { enabled, ...filled }),
    ...('api_key' in key ? ['  API key: a new one'] : []),
  ]
  const isLapsed = saved?.enabled === true && !saved.consent_current
  if (changes.length === 0 && !isLapsed) {
    deps.note(nothingChanges)
    return null
  }
  deps.note(changeText([...changes, ...(isLapsed ? ['  consent: given anew'] : [])]))
  const block = { enabled, ...key, ...filled, plaintext_provider_egress_acknowledged: false }
  const needs = alphaNeedsAcknowledgment(gov, provider, parseSetupInput(block))
  return {
    document: {
      alpha_text: { ...block, plaintext_provider_egress_acknowledged: needs },
      expected_policy_revision: current.policy_revision,
    },
    typed: [typedOf(saved, {
      enables: enabled && (saved?.enabled !== true || isLapsed), keyWord, filled,
    })],
    agree: () => agreed({ deps, provider, prompter }, needs),
  }
}

import { alphaSetup } from '../../../alpha/setup-contract.js'
import { alphaLimits } from '../../../alpha/constants.js'
import { alphaConsentStatement } from '../../../alpha/consent-text.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { alphaNeedsAcknowledgment } from '../../../alpha/setup-save.js'
import { parseSetupInput, requireSaveAuthority } from '../../../alpha/setup.js'
import { showAlpha } from '../../../alpha/show.js'
import { fail } from '../../../base/errors.js'
import type { Work } from '../../../fabric/operation.js'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { acknowledgeFlag, integerFlag, moneyFlag, renamed } from '../../flags.js'
import { inFlags } from '../../field-flags.js'
import { readInput, readSecret } from '../../input.js'
import { removeKey, removeKeyFlag, requireAlone } from '../../remove-key.js'
import { saveByForm } from '../../set-up-form.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { saveListing, voidAnswersFlag } from '../../voids.js'
import { fillForm, type SetupBlock } from './setup-form.js'
import { alphaText } from './text.js'

interface SetupOptions {
  readonly enable?: boolean
  readonly disable?: boolean
  readonly maxOutputTokens?: number
  readonly timeoutSeconds?: string
  readonly requestCostBoundMicrousd?: number
  readonly spendCeilingMicrousd?: number
  readonly apiKeyFile?: string
  readonly acknowledgePlaintextEgress?: boolean
  readonly expectedPolicyRevision?: number
  readonly voidAnswers?: boolean
  readonly removeKey?: boolean
  readonly from?: string
}

const money = { min: alphaLimits.microusdMin, max: alphaLimits.microusdMax }
const saveBytesMax = 65_536

const numberText = (text: string): number => {
  if (/^(?:0|[1-9][0-9]{0,3})(?:\.[0-9]{1,6})?$/.test(text)) return Number(text)
  throw fail.rejected(
    'flag_invalid', 'Flag --timeout-seconds must be a number of seconds from 1 to 45.',
    { details: { field: '--timeout-seconds' } },
  )
}

const enabledOf = (options: SetupOptions, current: AlphaShow): boolean => {
  if (options.enable && options.disable) {
    throw fail.usage('contradicting_flags', 'Give one of --enable and --disable.')
  }
  // A flag left out keeps what is saved; only a whole document has the default false.
  return options.enable ?? (options.disable ? false : current.alpha_text?.enabled ?? false)
}

const blockOf = async (
  options: SetupOptions, deps: VerbDeps, current: AlphaShow,
): Promise<SetupBlock> => {
  const set = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value })
  const key = options.apiKeyFile === undefined ? undefined : await readSecret(deps, {
    from: options.apiKeyFile, flag: '--api-key-file', bytesMax: alphaLimits.apiKeyBytesMax + 2,
  })
  const timeout = options.timeoutSeconds
  return {
    alpha_text: {
      enabled: enabledOf(options, current),
      ...set('api_key', key),
      ...set('max_output_tokens', options.maxOutputTokens),
      ...set('timeout_seconds', timeout === undefined ? undefined : numberText(timeout)),
      ...set('request_cost_bound_microusd', options.requestCostBoundMicrousd),
      ...set('spend_ceiling_microusd', options.spendCeilingMicrousd),
      plaintext_provider_egress_acknowledged: options.acknowledgePlaintextEgress ?? false,
    },
    ...(options.expectedPolicyRevision === undefined
      ? {} : { expected_policy_revision: options.expectedPolicyRevision }),
  }
}

/**
 * What is consented to is shown before it counts. On a terminal the acknowledgment may be given at
 * a prompt, which starts unchecked; elsewhere only by the flag.
 */
const acknowledged = async (
  deps: VerbDeps, gov: Gov, current: AlphaShow, block: SetupBlock, enables: boolean,
): Promise<SetupBlock> => {
  const { provider } = deploymentProfile(gov.store)
  const given = block.alpha_text.plaintext_provider_egress_acknowledged === true
  if (!given && !deps.interactive && !enables) return block
  if (!alphaNeedsAcknowledgment(gov, provider, parseSetupInput(block.alpha_text))) return block
  // What stands enabled with no consent would else be saved as it is, and go on sending nothing.
  if (!given && !deps.interactive) {
    requireSaveAuthority({ needsAuthority: true }, {
      acknowledged: false, expectedPolicyRevision: block.expected_policy_revision ?? null,
    })
  }
  deps.note(`\n${alphaConsentStatement(provider).text}`)
  if (given) return block
  await deps.confirm('I acknowledge this plaintext egress', '--acknowledge')
  return {
    alpha_text: { ...block.alpha_text, plaintext_provider_egress_acknowledged: true },
    expected_policy_revision: block.expected_policy_revision ?? current.policy_revision,
  }
}

/** Names of what the flags say, besides what may be lost. */
const namesOf = ({ voidAnswers: _, ...options }: SetupOptions): readonly string[] =>
  Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]))

/** What had left before of what the save closed. */
type Saved = Pick<AlphaShow, 'requests'>

const fillIn = async (
  { voidAnswers }: SetupOptions, deps: VerbDeps, opened: Work,
  current: AlphaShow,
): Promise<Saved> => {
  const { gov } = opened
  const { provider } = deploymentProfile(gov.store)
  return saveByForm(deps, opened, { only: 'alpha_text', verb: 'alpha setup', voidAnswers },
    (prompter) => fillForm({ deps, provider, prompter }, gov, current))
}

export const setup: VerbRecord<SetupOptions, AlphaShow> = {
  summary: 'set up, enable, change or disable the text capability',
  description:
    'Saves the limits, the key and the consent of the text capability. Enabling it, or changing '
    + 'it while enabled, needs the acknowledgment that the provider sees plaintext and the '
    + 'policy revision that `alpha show` prints. Disabling needs neither. Without flags on a '
    + 'terminal it is a form; its confirmation starts unchecked.',
  examples: [
    '$ sallyport alpha setup',
    '$ sallyport alpha setup --enable --api-key-file key --max-output-tokens 512 '
      + '--timeout-seconds 30 --request-cost-bound 0.02usd '
      + '--spend-ceiling 1.00usd --acknowledge '
      + '--expected-revision 1',
    '$ sallyport alpha setup --disable',
    '$ sallyport alpha setup --remove-key',
    '$ sallyport alpha setup --from setup.json --json',
  ],
  exits: ['rejected', 'conflict', 'blocked', 'locked'],
  json: alphaSetup,
  flags: (command) => command
    .option('--enable', 'enable the capability')
    .option('--disable', 'disable it; set-up, key and limits remain')
    .addOption(integerFlag('--max-output-tokens <n>', 'longest answer in tokens', {
      min: alphaLimits.outputTokensMin, max: alphaLimits.outputTokensMax,
    }))
    .option('--timeout-seconds <s>', 'longest wait for an answer (1 to 45)')
    .addOption(moneyFlag('--request-cost-bound-microusd <n>', 'hold for one request', money))
    .addOption(moneyFlag('--spend-ceiling-microusd <n>', 'the one ceiling of all routes', money))
    .option('--api-key-file <file>', "the provider's key; - for stdin")
    .addOption(acknowledgeFlag(
      '--acknowledge-plaintext-egress', 'the provider sees question and answer in plaintext'))
    .addOption(renamed(integerFlag(
      '--expected-policy-revision <n>', 'as `alpha show` prints it',
      { min: 0, max: Number.MAX_SAFE_INTEGER }), '--expected-revision'))
    .option(...voidAnswersFlag)
    .option(...removeKeyFlag)
    .option('--from <file>', 'a whole request as JSON; - for stdin'),
  text: alphaText,
  run: async (options, deps) => {
    if (options.from !== undefined && namesOf(options).length > 1) {
      throw fail.usage('several_sources', 'The document of --from stands alone.')
    }
    if (options.removeKey === true) requireAlone(namesOf(options))
    const bytes = options.from === undefined ? null : await readInput(deps, {
      from: options.from, flag: '--from', bytesMax: saveBytesMax,
    })
    const opened = await workFor(deps, 'mutate')
    const { gov, session } = opened
    const { provider } = deploymentProfile(gov.store)
    const answer = ({ requests }: Saved): AlphaShow =>
      alphaSetup.answer({ ...showAlpha(gov, session, provider), requests })
    if (bytes !== null) {
      return answer(await saveListing(deps, opened, { bytes, only: 'alpha_text' }, options))
    }
    if (options.removeKey === true) return answer(await removeKey(deps, opened, 'alpha_text'))
    const current = showAlpha(gov, session, provider)
    if (namesOf(options).length === 0) return answer(await fillIn(options, deps, opened, current))
    const block = await blockOf(options, deps, current)
    return answer(await inFlags(async () => {
      const value = await acknowledged(deps, gov, current, block, options.enable === true)
      return saveListing(deps, opened, { value, only: 'alpha_text' }, options)
    }))
  },
}

import { Option } from 'commander'
import { fail } from '../../../base/errors.js'
import { configurationBytesMax } from '../../../fabric/configuration.js'
import { routePlaces } from '../../../fabric/places.js'
import { gatewaySetup } from '../../../gateway/gateway-contract.js'
import {
  gatewayLimits as limits, gatewayPurposes, slotMeant, slotNames,
} from '../../../gateway/constants.js'
import type { GatewayShow } from '../../../gateway/projection.js'
import { gatewayStatements } from '../../../gateway/save.js'
import { parseGatewayInput } from '../../../gateway/setup.js'
import { showGateway } from '../../../gateway/show.js'
import type { Work } from '../../../fabric/operation.js'
import type { Gov } from '../../../governance/context.js'
import { policyHead } from '../../../governance/policy/head.js'
import {
  acknowledgeFlag, choiceFlag, integerFlag, moneyFlag, offered, renamed,
} from '../../flags.js'
import { requireYes } from '../../ask-verdict.js'
import { inFlags } from '../../field-flags.js'
import { readInput, readSecret } from '../../input.js'
import { removeKey, removeKeyFlag, requireAlone } from '../../remove-key.js'
import { saveByForm } from '../../set-up-form.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { saveListing, voidAnswersFlag } from '../../voids.js'
import type { GatewayDocument } from './setup-draft.js'
import { fillGatewayForm } from './setup-form.js'
import { gatewayText } from './text.js'

interface GatewaySetupOptions {
  readonly slot?: string
  readonly model?: string
  readonly upstreamAllow?: string
  readonly requestCostBoundMicrousd?: number
  readonly timeoutSeconds?: string
  readonly removeSlot?: string
  readonly apiKeyFile?: string
  readonly spendCeilingMicrousd?: number
  readonly consent?: readonly string[]
  readonly enable?: boolean
  readonly disable?: boolean
  readonly acknowledgeCloudEgress?: boolean
  readonly expectedPolicyRevision?: number
  readonly voidAnswers?: boolean
  readonly removeKey?: boolean
  readonly from?: string
}

const money = { min: limits.microusdMin, max: limits.microusdMax }

const seconds = (text: string): number => {
  if (/^(?:0|[1-9][0-9]{0,3})(?:\.[0-9]{1,6})?$/.test(text)) return Number(text)
  throw fail.rejected(
    'flag_invalid', 'Flag --timeout-seconds must be a number of seconds from 1 to 120.',
    { details: { field: '--timeout-seconds' } },
  )
}

const set = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value })

const slotsOf = (options: GatewaySetupOptions): Record<string, unknown> => {
  const { slot, model, upstreamAllow, requestCostBoundMicrousd, timeoutSeconds } = options
  const about = [model, upstreamAllow, requestCostBoundMicrousd, timeoutSeconds]
  const named = about.some((value) => value !== undefined)
  if (named !== (slot !== undefined)) {
    throw fail.usage('slot_flags', named
      ? 'The slot flags need --slot.'
      : 'Flag --slot needs what to save: --model and --upstream-allow where it is not set, '
        + 'else what changes.')
  }
  if (slot !== undefined && slot === options.removeSlot) {
    throw fail.usage('contradicting_flags', 'A slot is set or removed, not both.')
  }
  return {
    ...(slot === undefined ? {} : {
      [slot]: {
        ...set('model', model),
        ...set('upstream_allow', upstreamAllow?.split(',').map((one) => one.trim())),
        ...set('request_cost_bound_microusd', requestCostBoundMicrousd),
        ...(timeoutSeconds === undefined ? {} : { timeout_seconds: seconds(timeoutSeconds) }),
      },
    }),
    ...(options.removeSlot === undefined ? {} : { [options.removeSlot]: null }),
  }
}

/** `chat` is short for `gateway.chat`; a list may be separated by commas too. */
const consentsOf = (given: readonly string[] | undefined): string[] | undefined =>
  given?.flatMap((one) => one.split(',')).map((one) => one.trim())
    .map((one) => (one.startsWith('gateway.') ? one : `gateway.${one}`))

const blockOf = async (
  options: GatewaySetupOptions, deps: VerbDeps,
): Promise<Record<string, unknown>> => {
  if (options.enable && options.disable) {
    throw fail.usage('contradicting_flags', 'Give one of --enable and --disable.')
  }
  const key = options.apiKeyFile === undefined ? undefined : await readSecret(deps, {
    from: options.apiKeyFile, flag: '--api-key-file', bytesMax: limits.apiKeyBytesMax + 2,
  })
  return {
    ...set('enabled', options.enable ?? (options.disable ? false : undefined)),
    ...set('api_key', key),
    ...set('spend_ceiling_microusd', options.spendCeilingMicrousd),
    ...set('slots', slotsOf(options)),
    ...set('consents', consentsOf(options.consent)),
    cloud_egress_acknowledged: options.acknowledgeCloudEgress ?? false,
  }
}

/**
 * What is consented to is shown before it counts. On a terminal the acknowledgment may be given at
 * a prompt, which starts unchecked; elsewhere only by the flag.
 */
const acknowledged = async (
  options: GatewaySetupOptions, deps: VerbDeps, gov: Gov, gateway: Record<string, unknown>,
): Promise<GatewayDocument> => {
  const named = options.expectedPolicyRevision
  const document = { gateway, ...set('expected_policy_revision', named) }
  // Read before the texts are made: what another saves while the prompt waits was never shown.
  const revision = named ?? policyHead(gov.store.read()).revision
  const statements = await gatewayStatements(
    gov, routePlaces(gov).gateway, parseGatewayInput(gateway),
  )
  const asks = options.acknowledgeCloudEgress !== true
  if (statements.length === 0 || (asks && !deps.interactive)) return document
  for (const { text } of statements) deps.note(`\n${text}`)
  if (!asks) return document
  await requireYes(await deps.ask('Give --acknowledge.'), 'I acknowledge this cloud egress')
  return {
    gateway: { ...gateway, cloud_egress_acknowledged: true },
    expected_policy_revision: revision,
  }
}

type Opened = Work

const shown = ({ gov, session }: Opened): GatewayShow =>
  showGateway(gov, session, routePlaces(gov).gateway)

/** What had left before of what the save closed. */
type Saved = Pick<GatewayShow, 'requests'>

/** Saves what a person fills in, at the very revision that the form showed. */
const fillIn = async (
  { voidAnswers }: GatewaySetupOptions, deps: VerbDeps, opened: Opened,
): Promise<Saved> => {
  const current = shown(opened)
  return saveByForm(deps, opened, { only: 'gateway', verb: 'gateway setup', voidAnswers },
    (prompter) => fillGatewayForm(deps, prompter, opened.gov, current))
}

export const setup: VerbRecord<GatewaySetupOptions, GatewayShow> = {
  summary: 'set up slots, key, ceiling and consents of the general model route',
  description:
    'Saves one slot at a time: its exact model and the upstream hosts that may serve it. Key, '
    + 'shared ceiling and the other slots stay as they are unless named. Whatever widens the '
    + 'route needs the acknowledgment of cloud egress and the policy revision that `gateway '
    + 'show` prints; each purpose needs a consent of its own. Disabling, removing a slot and '
    + 'lowering a limit need neither. Without flags on a '
    + 'terminal it is a form: Enter keeps what is saved, and every consent starts unmarked.',
  examples: [
    '$ sallyport gateway setup',
    '$ sallyport gateway setup --slot chat --model gateway/acme/text-1 --upstream-allow '
      + 'acme-host --api-key-file key --spend-ceiling 1.00usd --consent gateway.chat '
      + '--acknowledge --expected-revision 3',
    '$ sallyport gateway setup --slot report --timeout-seconds 20',
    '$ sallyport gateway setup --spend-ceiling 0.50usd --json',
    '$ sallyport gateway setup --disable',
    '$ sallyport gateway setup --remove-key',
  ],
  exits: ['rejected', 'conflict', 'blocked', 'locked'],
  json: gatewaySetup,
  flags: (command) => command
    .addOption(choiceFlag(
      '--slot <slot>', 'the slot that the slot flags are about', slotNames, slotMeant))
    .option('--model <selector>', 'exactly gateway/<provider>/<model>')
    .option('--upstream-allow <list>', 'upstream slugs, separated by commas')
    .addOption(moneyFlag(
      '--request-cost-bound-microusd <n>',
      `hold for one request; first ${limits.requestBoundMicrousdDefault}, or the ceiling if less`,
      money,
    ))
    .option(
      '--timeout-seconds <s>',
      `longest wait for a reply; first ${limits.timeoutSecondsDefault} `
        + `(${limits.timeoutSecondsMin} to ${limits.timeoutSecondsMax})`,
    )
    .addOption(choiceFlag('--remove-slot <slot>', 'remove a slot', slotNames, slotMeant))
    .option('--api-key-file <file>', "the gateway's key; - for stdin")
    .addOption(moneyFlag('--spend-ceiling-microusd <n>', 'the one ceiling of all routes', money))
    .addOption(offered(new Option(
      '--consent <purpose...>', `purposes to consent to: ${gatewayPurposes.join(', ')}`,
    ), gatewayPurposes))
    .option('--enable', 'enable the route (a first set-up does)')
    .option('--disable', 'disable it; slots, key and proofs remain')
    .addOption(acknowledgeFlag(
      '--acknowledge-cloud-egress', 'content leaves for the gateway and its upstream hosts'))
    .addOption(renamed(integerFlag(
      '--expected-policy-revision <n>', 'as `gateway show` prints it',
      { min: 0, max: Number.MAX_SAFE_INTEGER }), '--expected-revision'))
    .option(...voidAnswersFlag)
    .option(...removeKeyFlag)
    .option('--from <file>', 'a whole request as JSON; - for stdin'),
  text: gatewayText,
  run: async (options, deps) => {
    const names = Object.keys(options).filter((name) => name !== 'voidAnswers')
    const given = names.length
    if (options.removeKey === true) requireAlone(names)
    if (given === 0 && !deps.interactive) {
      throw fail.usage('nothing_to_save', 'Name what to save.', {
        next: 'Flags and an example: `sallyport gateway setup --help`.',
      })
    }
    if (options.from !== undefined && given > 1) {
      throw fail.usage('several_sources', 'The document of --from stands alone.')
    }
    const bytes = options.from === undefined ? null : await readInput(deps, {
      from: options.from, flag: '--from', bytesMax: configurationBytesMax,
    })
    const block = bytes !== null || given === 0 ? null : await blockOf(options, deps)
    const opened = await workFor(deps, 'mutate')
    const save = async (): Promise<Saved> => {
      if (options.removeKey === true) return removeKey(deps, opened, 'gateway')
      if (block !== null) {
        return inFlags(async () => {
          const value = await acknowledged(options, deps, opened.gov, block)
          return saveListing(deps, opened, { value, only: 'gateway' }, options)
        })
      }
      return bytes === null ? fillIn(options, deps, opened)
        : saveListing(deps, opened, { bytes, only: 'gateway' }, options)
    }
    const { requests } = await save()
    return gatewaySetup.answer({ ...shown(opened), requests })
  },
}

/** One slot of the route, asked for field by field; each is judged when it is left. */
import { gatewayLimits as limits, type SlotName } from '../../../gateway/constants.js'
import type { SlotProjection } from '../../../gateway/projection.js'
import { gatewayWouldChange } from '../../../gateway/save.js'
import { parseGatewayInput, type SlotSetup } from '../../../gateway/setup.js'
import { parseGatewaySelector } from '../../../governance/selectors.js'
import type { Gov } from '../../../governance/context.js'
import { routePlaces } from '../../../fabric/places.js'
import { askLimit, asFirst, moneyLimit, refusalOf, secondsLimit } from '../../form.js'
import type { Prompter } from '../../prompt.js'

/** A slot as the form shows it. */
export type SavedSlot = Pick<
  SlotProjection, 'model' | 'upstream_allow' | 'request_cost_bound_microusd' | 'timeout_seconds'
>

/** What a form would change of a slot. */
export type SlotDraft = Partial<SlotSetup>

interface SlotCase {
  readonly prompter: Prompter
  readonly gov: Gov
  readonly slot: SlotName
  /** As it is saved; its model is null where nothing is. */
  readonly saved: SavedSlot
  /** The ceiling as it will be, micro-USD: no bound is above it. */
  readonly ceilingMicrousd: number
  /** What a slot that is not set is offered; null where a person alone knows. */
  readonly offered: { readonly model: string; readonly host: string } | null
}

const listOf = (text: string): string[] => text.split(',').map((one) => one.trim())

/** The refusal of a save that names this way alone; its bound is asked for later. */
const wayProblem = (
  { gov, slot, ceilingMicrousd }: SlotCase, way: SlotDraft,
): Promise<string | null> => refusalOf(async () => {
  const draft = { ...way, request_cost_bound_microusd: limits.microusdMin }
  const input = parseGatewayInput({
    spend_ceiling_microusd: ceilingMicrousd, slots: { [slot]: draft },
  })
  await gatewayWouldChange(gov, gov.store.read(), routePlaces(gov).gateway, {
    input, expectedPolicyRevision: null,
  })
})

const modelProblem = ({ gov, slot }: SlotCase, model: string): Promise<string | null> =>
  refusalOf(() => {
    parseGatewayInput({ slots: { [slot]: { model } } })
    parseGatewaySelector(model, routePlaces(gov).gateway.reserved)
  })

/** Model and upstream hosts; null where a slot that is not set is left empty. */
const askWay = async (one: SlotCase): Promise<SlotDraft | null> => {
  const { prompter, saved, slot, offered } = one
  const model = await prompter.text(
    `Model of ${slot}:`, saved.model ?? offered?.model ?? '',
    (text) => (text === '' ? null : modelProblem(one, text)),
  )
  if (model === '') return null
  const now = saved.upstream_allow.join(', ')
  const upstreams = await prompter.text(
    `Upstream hosts that may serve ${slot}, by commas:`, now === '' ? offered?.host ?? '' : now,
    (text) => (text === '' ? null : wayProblem(one, { model, upstream_allow: listOf(text) })),
  )
  if (upstreams === '') return null
  return {
    ...(model === saved.model ? {} : { model }),
    ...(upstreams === now ? {} : { upstream_allow: listOf(upstreams) }),
  }
}

const timeouts = [15, 30, 45, 60, 120] as const

const askLimits = async (
  { prompter, slot, saved, ceilingMicrousd }: SlotCase,
): Promise<SlotDraft> => {
  const { request_cost_bound_microusd: bound, timeout_seconds: timeout } = saved
  const first = Math.min(ceilingMicrousd, limits.requestBoundMicrousdDefault)
  const held = await askLimit(prompter, {
    ...moneyLimit, now: bound, message: `Bound for one request of ${slot}:`,
    keep: bound === null ? asFirst(moneyLimit.label(first)) : `keep ${moneyLimit.label(bound)}`,
    offers: [10_000, 50_000, 200_000, 500_000].filter((one) => one !== first),
    range: { min: limits.microusdMin, max: Math.min(limits.microusdMax, ceilingMicrousd) },
  })
  const seconds = await askLimit(prompter, {
    ...secondsLimit, now: timeout, message: `Longest wait for a reply of ${slot}:`,
    keep: timeout === null ? asFirst(`${limits.timeoutSecondsDefault} s`) : `keep ${timeout} s`,
    offers: timeouts.filter((one) => timeout !== null || one !== limits.timeoutSecondsDefault),
    range: { min: limits.timeoutSecondsMin, max: limits.timeoutSecondsMax },
  })
  return {
    ...(held === undefined ? {} : { request_cost_bound_microusd: held }),
    ...(seconds === undefined ? {} : { timeout_seconds: seconds }),
  }
}

/**
 * What a person would change of a slot; empty where nothing. A list of models or hosts is none of
 * this program's: both are typed. Beside the bound stands only what this state itself has paid.
 */
export const askSlot = async (one: SlotCase): Promise<SlotDraft> => {
  const way = await askWay(one)
  return way === null ? {} : { ...way, ...await askLimits(one) }
}

/** What a person has filled in so far, as the difference they see and as the save it makes. */
import {
  egressPurpose, slotNames, slotOfPurpose, type GatewayPurpose, type SlotName,
} from '../../../gateway/constants.js'
import type { GatewayShow } from '../../../gateway/projection.js'
import { differenceOf } from '../../difference.js'
import { flagWords, keyFileWord } from '../../typed.js'
import type { SlotDraft } from './slot-form.js'

/** A save of the route as the configuration use case takes it; parsed strictly there. */
export interface GatewayDocument {
  gateway: Record<string, unknown>
  expected_policy_revision?: number
}

/** Answers; what was not answered is left out. */
export interface Draft {
  key?: string
  /** What names its file on a line. */
  keyWord?: string
  /** Micro-USD. */
  ceiling?: number
  slots: Partial<Record<SlotName, SlotDraft>>
  enable?: boolean
  consents: readonly GatewayPurpose[]
  /** A lapsed acknowledgment is given anew though nothing else changes. */
  renews?: boolean
}

const slotFields = (
  slot: SlotName, from: SlotDraft | undefined,
): readonly (readonly [string, unknown])[] =>
  Object.entries(from ?? {}).map(([name, value]) => [`${slot}.${name}`, value] as const)

const savedFields = ({ gateway }: GatewayShow, slot: SlotName) => {
  const saved = gateway?.slots[slot]
  if (saved === undefined || saved.model === null) return []
  const { model, upstream_allow, request_cost_bound_microusd: bound, timeout_seconds: time } = saved
  return slotFields(slot, {
    model, upstream_allow,
    ...(bound === null ? {} : { request_cost_bound_microusd: bound }),
    ...(time === null ? {} : { timeout_seconds: time }),
  })
}

/** The difference, one line a field; what was not asked for is not among it. */
export const changesOf = (current: GatewayShow, draft: Draft): readonly string[] => {
  const after = Object.fromEntries(slotNames.flatMap((slot) => slotFields(slot, draft.slots[slot])))
  const before = Object.fromEntries(slotNames.flatMap((slot) => savedFields(current, slot)))
  const { gateway } = current
  return [
    ...differenceOf({ ...gateway }, {
      ...(draft.enable === undefined ? {} : { enabled: draft.enable }),
      ...(draft.ceiling === undefined ? {} : { spend_ceiling_microusd: draft.ceiling }),
    }),
    ...(draft.key === undefined ? [] : ['  API key: a new one']),
    ...differenceOf(before, after),
    ...draft.consents.map((purpose) => `  consent: ${purpose}`),
    ...(draft.renews === true ? [`  consent: ${egressPurpose}, anew`] : []),
  ]
}

/** The save that the answers make, without the acknowledgment. */
export const blockOf = (current: GatewayShow, draft: Draft): Record<string, unknown> => ({
  ...(draft.key === undefined ? {} : { api_key: draft.key }),
  ...(draft.ceiling === undefined ? {} : { spend_ceiling_microusd: draft.ceiling }),
  slots: draft.slots,
  consents: draft.consents,
  // A first save enables unless told otherwise; the form enables nothing that was not asked for.
  ...(draft.enable === undefined && current.gateway !== null
    ? {} : { enabled: draft.enable ?? false }),
})

const slotWords = (slot: SlotName, { model, upstream_allow: upstreams, ...limits }: SlotDraft) => [
  '--slot', slot,
  ...(model === undefined ? [] : ['--model', model]),
  ...(upstreams === undefined ? [] : ['--upstream-allow', upstreams.join(',')]),
  ...Object.entries(limits).flatMap(([name, value]) =>
    flagWords(`--${name.replaceAll('_', '-')}`, value)),
]

const consentWords = (purposes: readonly GatewayPurpose[]): readonly string[] =>
  (purposes.length === 0 ? [] : ['--consent', ...purposes])

/**
 * The lines that say the same, one for each slot, without their consent to what they list: what
 * belongs to no slot stands in the first.
 */
export const typedOf = (current: GatewayShow, draft: Draft): readonly (readonly string[])[] => {
  const slots = slotNames.filter((slot) => draft.slots[slot] !== undefined)
  const enables = draft.enable === true || draft.renews === true
  const common = [
    ...(enables ? ['--enable'] : []),
    // A first save enables unless told otherwise.
    ...(!enables && current.gateway === null ? ['--disable'] : []),
    ...(draft.ceiling === undefined ? [] : flagWords('--spend-ceiling-microusd', draft.ceiling)),
    ...(draft.key === undefined ? [] : ['--api-key-file', draft.keyWord ?? keyFileWord]),
  ]
  const [first, ...others] = slots
  const of = (slot: SlotName): readonly GatewayPurpose[] =>
    draft.consents.filter((purpose) => slotOfPurpose[purpose] === slot)
  const rest = draft.consents.filter((purpose) => !slots.includes(slotOfPurpose[purpose]))
  return [
    [
      'gateway', 'setup',
      ...(first === undefined ? [] : slotWords(first, draft.slots[first] ?? {})),
      ...common, ...consentWords([...first === undefined ? [] : of(first), ...rest]),
    ],
    ...others.map((slot) => [
      'gateway', 'setup', ...slotWords(slot, draft.slots[slot] ?? {}), ...consentWords(of(slot)),
    ]),
  ]
}

import { countText } from '../../../base/counted.js'
import { moneyText } from '../../../base/money.js'
import { routePlaces } from '../../../fabric/places.js'
import { purposeContents } from '../../../gateway/consent-text.js'
import {
  gatewayLimits as limits, gatewayPurposes, slotNames, slotOfPurpose, type GatewayPurpose,
  type SlotName,
} from '../../../gateway/constants.js'
import type { GatewayShow } from '../../../gateway/projection.js'
import { gatewayNeedsAcknowledgment, gatewayStatements } from '../../../gateway/save.js'
import { parseGatewayInput } from '../../../gateway/setup.js'
import type { Gov } from '../../../governance/context.js'
import { sentOperations } from '../../../governance/ledger/find-reservation.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { collections } from '../../../governance/rows.js'
import type { VerbDeps } from '../../verb.js'
import { requireYes } from '../../ask-verdict.js'
import {
  askLimit, changeText, moneyLimit, nothingChanges, refusalOf, standingCeiling,
} from '../../form.js'
import { readSecret } from '../../input.js'
import type { Prompter } from '../../prompt.js'
import { standingText, type FilledForm } from '../../set-up-form.js'
import { rehearsalOf, type Rehearsal } from '../sandbox/rehearsal.js'
import { blockOf, changesOf, typedOf, type Draft } from './setup-draft.js'
import { askSlot, type SavedSlot } from './slot-form.js'

interface Form {
  readonly deps: VerbDeps
  readonly gov: Gov
  readonly prompter: Prompter
  readonly current: GatewayShow
  readonly rehearsal: Rehearsal | null
}

/** The one ceiling as it is now, micro-USD; null before there is one. */
const ceilingOf = ({ gov, current }: Form): number | null =>
  current.gateway?.spend_ceiling_microusd ?? standingCeiling(gov)

/** Requests that are counted for a form: more of them are told as that many. */
const requestsMax = 10_000

const spentText = ({ gov }: Form): string => {
  const view = gov.store.read()
  const account = view.all(collections.ledgerAccounts).at(0)?.doc
  const requests = account === undefined ? 0 : sentOperations(view, requestsMax + 1)
  if (account === undefined || requests === 0) return 'The ledger saw no request yet.'
  const counted = requests > requestsMax ? `over ${requestsMax} requests`
    : countText(requests, 'request')
  const due = account.unknown_microusd + account.held_microusd
  return `The ledger saw ${counted}, ${moneyText(account.settled_microusd)} in all`
    + `${due === 0 ? '' : ` and ${moneyText(due)} held`}.`
}

const askCeiling = async (form: Form, keep: string): Promise<number | undefined> => {
  const now = ceilingOf(form)
  return askLimit(form.prompter, {
    ...moneyLimit, now, keep, message: 'Ceiling of all routes together:',
    offers: [500_000, 1_000_000, 5_000_000, 20_000_000],
    first: now === null && form.rehearsal !== null ? 1_000_000 : undefined,
    range: { min: limits.microusdMin, max: limits.microusdMax },
  })
}

/** Whatever is saved first needs a ceiling: it is asked for until there is one. */
const requiredCeiling = async (form: Form, draft: Draft): Promise<number> => {
  for (;;) {
    const known = draft.ceiling ?? ceilingOf(form)
    if (known !== null) return known
    const given = await askCeiling(form, 'none yet; it is needed')
    if (given !== undefined) draft.ceiling = given
  }
}

const unset: SavedSlot = {
  model: null, upstream_allow: [], request_cost_bound_microusd: null, timeout_seconds: null,
}

/** What this state paid for the newest proof of a slot. */
const provedText = ({ current }: Form, slot: SlotName): string => {
  const cost = current.gateway?.slots[slot].proof.cost_microusd ?? null
  return cost === null ? '' : ` Its last proof cost ${moneyText(cost)}.`
}

const modelIn = ({ current }: Form, draft: Draft, slot: SlotName): string | null =>
  draft.slots[slot]?.model ?? current.gateway?.slots[slot].model ?? null

/** What a slot is for, as whoever fills in the form has to know it. */
const usesOf: Readonly<Record<SlotName, string>> = {
  chat: 'for proofs alone', report: 'for digests', screenshot: 'for pictures',
}

const askSlots = async (form: Form, draft: Draft): Promise<void> => {
  const { prompter, gov, current, deps } = form
  for (;;) {
    const labels = new Map<string, SlotName>(slotNames.map((slot) => {
      return [`${slot}, ${usesOf[slot]}: ${modelIn(form, draft, slot) ?? 'not set'}`, slot]
    }))
    const isNone = [...labels.values()].every((slot) => modelIn(form, draft, slot) === null)
    const done = isNone ? 'none' : 'no other slot'
    // In a rehearsal all is filled in: Enter alone goes through every slot that is not set.
    const open = form.rehearsal === null ? undefined
      : [...labels].find(([, slot]) => modelIn(form, draft, slot) === null)?.[0]
    const chosen = await prompter.choose('Slot to set up:', [done, ...labels.keys()], open ?? done)
    const slot = labels.get(chosen)
    if (slot === undefined) return
    const ceilingMicrousd = await requiredCeiling(form, draft)
    deps.note('A model is named gateway/PROVIDER/MODEL. Its cost is your own bound.'
      + `${provedText(form, slot)} ${spentText(form)}`)
    const saved = { ...unset, ...current.gateway?.slots[slot], ...draft.slots[slot] }
    const offered = form.rehearsal === null ? null
      : { model: form.rehearsal.modelOf(slot), host: form.rehearsal.host }
    const named = await askSlot({ prompter, gov, slot, saved, ceilingMicrousd, offered })
    if (Object.keys(named).length > 0) draft.slots[slot] = { ...draft.slots[slot], ...named }
  }
}

const keyMessage = (stored: boolean, rehearsal: Rehearsal | null, isNeeded: boolean): string => {
  if (isNeeded) return 'Gateway key:'
  if (stored) return 'Gateway key (Enter keeps the stored one):'
  return `Gateway key (Enter${rehearsal === null ? ': not now' : ' takes that of the sandbox'}):`
}

const askKey = async (
  { prompter, deps, current, rehearsal }: Form, isNeeded = false,
): Promise<Pick<Draft, 'key' | 'keyWord'>> => {
  const stored = current.gateway?.key_present === true
  const given = await prompter.secret(
    keyMessage(stored, rehearsal, isNeeded),
    (text) => (isNeeded && text.trim() === '' ? 'The route needs a key; Ctrl-C leaves the form.'
      : refusalOf(() => { parseGatewayInput({ api_key: text }) })),
  )
  if (given.trim() === '' && !stored && rehearsal !== null) {
    const from = rehearsal.keyFiles.gateway
    const key = await readSecret(deps, {
      from, flag: '--api-key-file', bytesMax: limits.apiKeyBytesMax + 2,
    })
    return { key, keyWord: from }
  }
  if (given.trim() === '') return {}
  deps.secrets.add(given)
  return { key: given }
}

/** Purposes that have somewhere to go and no consent to it, once the draft is saved. */
const openPurposes = ({ current }: Form, draft: Draft): readonly GatewayPurpose[] =>
  gatewayPurposes.filter((purpose) => {
    const slot = slotOfPurpose[purpose]
    const { model, upstream_allow: upstreams } = draft.slots[slot] ?? {}
    if (model !== undefined || upstreams !== undefined) return true
    const isSet = current.gateway !== null && current.gateway.slots[slot].model !== null
    return isSet && current.gateway?.consents.find((one) => one.purpose === purpose)?.current
      !== true
  })

const askConsents = async (form: Form, draft: Draft): Promise<void> => {
  const open = openPurposes(form, draft)
  if (open.length === 0) return
  const labels = new Map(open.map((one) => [`${one}: ${purposeContents[one]}`, one]))
  const [first = '', ...others] = labels.keys()
  const picked = others.length > 0
    ? await form.prompter.pick('Purposes to consent to (space marks):', [first, ...others])
    : await form.prompter.confirm(`Consent to ${first}`) ? [first] : []
  draft.consents = picked.flatMap((label) => labels.get(label) ?? [])
  const left = open.filter((one) => !draft.consents.includes(one))
  if (left.length === 0) return
  form.deps.note(`Without a consent nothing is sent for ${left.join(', ')}. `
    + 'To give it later: `sallyport gateway setup`')
}

/** Enabling and consents, each unchecked; a route that stays disabled takes no consent. */
const askUse = async (form: Form, draft: Draft): Promise<void> => {
  const { deps, prompter, current: { gateway } } = form
  const isFirst = gateway === null
  const hasSlot = Object.keys(draft.slots).length > 0
  if (isFirst && !hasSlot) deps.note('Without a slot nothing can be asked of the gateway.')
  const asks = isFirst ? hasSlot : !gateway.enabled
  if (asks && await prompter.confirm('Enable the route now')) draft.enable = true
  if (gateway?.enabled !== true && draft.enable !== true) return
  const lacksKey = draft.key === undefined && gateway?.key_present !== true
  if (draft.enable === true && lacksKey) Object.assign(draft, await askKey(form, true))
  await askConsents(form, draft)
  const isLapsed = gateway?.enabled === true && !gateway.cloud_egress_acknowledged
  if (!isLapsed || draft.consents.length > 0) return
  draft.renews = await prompter.confirm('Acknowledge cloud egress anew')
}

/** The texts first, then one unchecked yes: to them, or to the change where there are none. */
const agreed = async (
  { deps, gov, prompter }: Form, block: Record<string, unknown>, needs: boolean,
): Promise<void> => {
  if (!needs) return requireYes(prompter, 'Save this change')
  const { gateway } = routePlaces(gov)
  for (const { text } of await gatewayStatements(gov, gateway, parseGatewayInput(block))) {
    deps.note(`\n${text}`)
  }
  await requireYes(prompter, 'I acknowledge this cloud egress')
}

const standing = ({ current: { gateway } }: Form): string => (gateway === null
  ? 'The gateway is not set up.' : standingText('The gateway', gateway, 'gateway setup'))

/**
 * The set-up as a form. It asks only for what it would add or change: slots that are not chosen,
 * the key under Enter and every consent stay as they are. What would change is shown before it is
 * saved; where nothing does, null is given.
 */
export const fillGatewayForm = async (
  deps: VerbDeps, prompter: Prompter, gov: Gov, current: GatewayShow,
): Promise<FilledForm | null> => {
  const rehearsal = await rehearsalOf(deps, deploymentProfile(gov.store))
  const form = { deps, gov, prompter, current, rehearsal }
  deps.note(`${standing(form)} ${spentText(form)}`)
  const draft: Draft = { slots: {}, consents: [] }
  const now = ceilingOf(form)
  const ceiling = await askCeiling(form, now === null ? 'not now' : `keep ${moneyLimit.label(now)}`)
  if (ceiling !== undefined) draft.ceiling = ceiling
  await askSlots(form, draft)
  Object.assign(draft, await askKey(form))
  if (draft.key !== undefined) {
    await requiredCeiling(form, draft)
  }
  await askUse(form, draft)
  const changes = changesOf(current, draft)
  if (changes.length === 0) {
    deps.note(nothingChanges)
    return null
  }
  deps.note(changeText(changes))
  const block = blockOf(current, draft)
  const input = parseGatewayInput(block)
  const needs = await gatewayNeedsAcknowledgment(gov, routePlaces(gov).gateway, input)
  return {
    document: {
      gateway: { ...block, cloud_egress_acknowledged: needs },
      expected_policy_revision: current.policy_revision,
    },
    typed: typedOf(current, draft),
    agree: () => agreed(form, block, needs),
  }
}

/**
 * The model configuration over both routes. A save names one block or both, but changes one route
 * only; what it leaves out stays. Each route's own save does the rest, and an edit of the shared
 * ceiling on the gateway carries the text capability's mirror along.
 */
import * as v from 'valibot'
import { alphaProjectionShape } from '../alpha/projection.js'
import {
  alphaVoids, alphaWouldChange, mirrorCeiling, saveAlpha, type AlphaSave,
} from '../alpha/setup-save.js'
import { parseSetupInput } from '../alpha/setup.js'
import { showAlpha } from '../alpha/show.js'
import { fail } from '../base/errors.js'
import { closedObject, parseClosed, strictInteger } from '../base/schema.js'
import { parseStrictJson } from '../base/strict-json.js'
import { gatewayProjectionShape } from '../gateway/projection.js'
import { gatewayVoids, gatewayWouldChange, saveGateway, type GatewaySave } from '../gateway/save.js'
import { parseGatewayInput } from '../gateway/setup.js'
import { showGateway } from '../gateway/show.js'
import type { Gov, Session } from '../governance/context.js'
import { policyHead } from '../governance/policy/head.js'
import { voidsNothing, type AcceptedVoids, type SaveVoids } from '../governance/policy/voids.js'
import { requestsShape } from '../governance/stops/requests.js'
import { routePlaces, type RoutePlaces } from './places.js'

/** Most bytes of a configuration document. */
export const configurationBytesMax = 65_536
const depthMax = 8

/** What `config show --json` prints: closed, fields are only ever added. */
export const configurationShape = v.strictObject({
  alpha_text: v.nullable(alphaProjectionShape),
  gateway: v.nullable(gatewayProjectionShape),
  policy_revision: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** After a save: what had left before of what it closed. */
  requests: v.optional(requestsShape),
})
export type Configuration = v.InferOutput<typeof configurationShape>

type BlockName = 'alpha_text' | 'gateway'

/** A save: a document as bytes, or as a value that was parsed strictly or built from flags. */
export type ConfigurationSave =
  & ({ readonly bytes: Uint8Array } | { readonly value: unknown })
  /** The one block that the caller's verb is about; a document that names the other is refused. */
  & { readonly only?: BlockName }
  /** Paid results that whoever saves gives up; none where it is left out. */
  & { readonly accepts?: AcceptedVoids | undefined }
  /** Takes the key of that one block out of the vault, and disables its route. */
  & { readonly removesKey?: boolean }

const documentShape = closedObject({
  alpha_text: v.optional(v.unknown()),
  gateway: v.optional(v.unknown()),
  expected_policy_revision: v.optional(strictInteger(0, Number.MAX_SAFE_INTEGER)),
})

interface ParsedSave {
  readonly alpha: AlphaSave | null
  readonly gateway: GatewaySave | null
  readonly expectedPolicyRevision: number | null
}

/** Strict and closed; null and what belongs to the other verb are refused. */
const parseSave = (save: ConfigurationSave): ParsedSave => {
  const value = 'bytes' in save
    ? parseStrictJson(save.bytes, { bytesMax: configurationBytesMax, depthMax }) : save.value
  const document = parseClosed(documentShape, value, {
    code: 'configuration_invalid', what: 'the configuration',
  })
  const has = (name: BlockName): boolean =>
    Object.hasOwn(document, name) && document[name] !== undefined
  const other = (['alpha_text', 'gateway'] as const)
    .find((name) => has(name) && save.only !== undefined && save.only !== name)
  if (other !== undefined) {
    throw fail.rejected('block_not_of_this_verb', `This verb does not save the block ${other}.`, {
      next: other === 'gateway'
        ? 'Use `sallyport gateway setup --from F`.' : 'Use `sallyport alpha setup --from F`.',
      details: { block: other },
    })
  }
  const expectedPolicyRevision = document.expected_policy_revision ?? null
  const { accepts, removesKey = false } = save
  const more = { expectedPolicyRevision, accepts, removesKey }
  return {
    alpha: has('alpha_text')
      ? { input: parseSetupInput(document.alpha_text), ...more } : null,
    gateway: has('gateway')
      ? { input: parseGatewayInput(document.gateway), ...more } : null,
    expectedPolicyRevision,
  }
}

/** The read over both routes. It opens no socket and changes no byte. */
export const readConfiguration = (gov: Gov, session: Session): Configuration => {
  const { provider, gateway } = routePlaces(gov)
  const alpha = showAlpha(gov, session, provider)
  return {
    alpha_text: alpha.alpha_text,
    gateway: showGateway(gov, session, gateway).gateway,
    policy_revision: alpha.policy_revision,
  }
}

/** Which one of two named blocks is to be saved; both changed is refused. */
const changedBlock = async (
  gov: Gov, places: RoutePlaces, alpha: AlphaSave, gateway: GatewaySave,
): Promise<BlockName> => {
  const view = gov.store.read()
  const alphaChanges = alphaWouldChange(gov, view, places.provider, alpha)
  const gatewayChanges = await gatewayWouldChange(gov, view, places.gateway, gateway)
  if (alphaChanges && gatewayChanges) {
    throw fail.rejected(
      'both_routes_changed', 'One save changes alpha_text or the gateway, never both.',
      { next: 'Save the two blocks one after the other; nothing of this save was applied.' },
    )
  }
  return gatewayChanges ? 'gateway' : 'alpha_text'
}

const requireExpected = (gov: Gov, expected: number | null): void => {
  const { revision } = policyHead(gov.store.read())
  if (expected === null || expected === revision) return
  throw fail.conflict(
    'stale_policy_revision', `The policy stands at revision ${revision}, not the expected one.`,
    { next: 'Read the configuration again and repeat the save.', details: { revision } },
  )
}

/** A save as it was parsed, with the one block that it is about. */
const oneBlock = async (
  gov: Gov, places: RoutePlaces, save: ConfigurationSave,
): Promise<ParsedSave> => {
  const parsed = parseSave(save)
  const { alpha, gateway } = parsed
  if (alpha === null || gateway === null) return parsed
  const changed = await changedBlock(gov, places, alpha, gateway)
  return changed === 'gateway' ? { ...parsed, alpha: null } : { ...parsed, gateway: null }
}

/** What the save would put out of reach, to be shown before it is made. Throws as the save. */
export const configurationVoids = async (gov: Gov, save: ConfigurationSave): Promise<SaveVoids> => {
  const places = routePlaces(gov)
  const { alpha, gateway } = await oneBlock(gov, places, save)
  const view = gov.store.read()
  if (alpha !== null) return alphaVoids(gov, view, places.provider, alpha)
  return gateway === null ? voidsNothing : gatewayVoids(gov, view, places.gateway, gateway)
}

/**
 * Saves the configuration and answers the read of after. Omitted blocks stay as they are;
 * a resubmitted block that changes nothing is no change. Throws `rejected` (malformed, null,
 * `both_routes_changed`, what a route's own save refuses), `conflict`, `unauthorized`.
 */
export const saveConfiguration = async (
  gov: Gov, session: Session, save: ConfigurationSave,
): Promise<Configuration> => {
  const places = routePlaces(gov)
  const { alpha, gateway, expectedPolicyRevision } = await oneBlock(gov, places, save)
  let requests: Configuration['requests'] = []
  if (alpha !== null) {
    ({ requests } = await saveAlpha(gov, session, places.provider, alpha))
  } else if (gateway !== null) {
    ({ requests } = await saveGateway(gov, session, places.gateway, gateway, [mirrorCeiling]))
  } else {
    requireExpected(gov, expectedPolicyRevision)
  }
  return { ...readConfiguration(gov, session), requests }
}

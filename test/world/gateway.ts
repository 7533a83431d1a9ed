/** The stage of the general model route, set up through the program against the sandbox. */
import { claimCollection } from '../../src/gateway/call/claims.js'
import type { GatewayShow } from '../../src/gateway/projection.js'
import { proofCollection } from '../../src/gateway/proof.js'
import { gatewayCollection } from '../../src/gateway/setup.js'
import { collections } from '../../src/governance/rows.js'
import type { SeenRequest } from '../../src/sandbox/types.js'
import { must } from '../support/must.js'
import { limits } from './alpha.js'
import type { Ran, RunOptions } from './place.js'
import type { Outside } from './sandbox.js'
import type { SignedIn } from './session.js'
import type { Stateful } from './state.js'
import type { Placed } from './world.js'

/** Bytes of the gateway key, with a mark that leak tests search for. */
export const gatewayKey = 'MARK-GATEWAY-KEY-0123456789'

/** The read of a gateway that is set up. */
export type GatewayRead = NonNullable<GatewayShow['gateway']>

/** Ways to use the route. */
export interface ModelRoute {
  /** Requests that the gateway saw. */
  calls(): readonly SeenRequest[]
  /** `gateway setup --json` with these flags, the acknowledgment and the exact revision. */
  widen(flags: readonly string[], options?: RunOptions): Promise<Ran>
  prove(slot: string, options?: RunOptions & { readonly args?: readonly string[] }): Promise<Ran>
  show(): Promise<{ gateway: GatewayRead; policy_revision: number }>
  /** Documents that revocations and other routes' saves must leave alone. */
  kept(): unknown
}

/** Flags that set one slot and consent to its purposes. */
export const slotFlags = (slot: string, ...purposes: string[]): string[] => [
  '--slot', slot, '--model', `gateway/acme/${slot}-1`, '--upstream-allow', 'acme-host,other-host',
  ...(purposes.length > 0 ? ['--consent', ...purposes] : []),
]

/** Purposes that a slot serves. */
const purposesOf = {
  chat: ['gateway.chat'], report: ['gateway.report', 'gateway.digest'],
  screenshot: ['gateway.vision'],
} as const

/** How it is set up. */
export interface GatewayOptions {
  /** Slots that are set and consented to; all of them unless said, none leaves it as it is. */
  readonly slots?: readonly (keyof typeof purposesOf)[]
  /** Ceiling of the deployment, micro-USD; that of the text capability unless said. */
  readonly ceilingMicrousd?: number
}

const allSlots = ['chat', 'report', 'screenshot'] as const

/** What the analysis of images and the texts about them need. */
export const forImages: GatewayOptions = {
  slots: ['report', 'screenshot'], ceilingMicrousd: 10_000_000,
}

const configOf = (
  slots: readonly (keyof typeof purposesOf)[], ceilingMicrousd: number,
): unknown => ({
  api_key: gatewayKey, spend_ceiling_microusd: ceilingMicrousd, cloud_egress_acknowledged: true,
  consents: slots.flatMap((slot) => purposesOf[slot]),
  slots: Object.fromEntries(slots.map((slot) => [slot, {
    model: `gateway/acme/${slot}-1`, upstream_allow: ['acme-host', 'other-host'],
  }])),
})

/** The general model route; its key lies in the working folder. */
export const gateway = async (
  world: Placed & Stateful & SignedIn & Outside,
  { slots = allSlots, ceilingMicrousd = limits.ceilingMicrousd }: GatewayOptions,
): Promise<ModelRoute> => {
  world.place.write('gateway-key', `${gatewayKey}\n`)
  const show = (): ReturnType<ModelRoute['show']> => world.json(['gateway', 'show'])
  if (slots.length > 0) {
    must(await saveConfig(world, {
      gateway: configOf(slots, ceilingMicrousd),
      expected_policy_revision: (await show()).policy_revision,
    }))
  }
  return {
    show,
    calls: () => world.sandbox.log.all({ service: 'gateway' }),
    widen: async (flags, more) => world.run([
      'gateway', 'setup', '--json', ...flags, '--acknowledge-cloud-egress',
      '--expected-policy-revision', String((await show()).policy_revision),
    ], more),
    prove: (slot, { args = [], ...more } = {}) =>
      world.run(['gateway', 'prove', slot, '--json', ...args], more),
    kept: () => {
      const view = world.view()
      const key = view.get(collections.credentials, 'vault:gateway_api_key')
      return {
        route: view.all(gatewayCollection), proofs: view.all(proofCollection),
        calls: view.all(claimCollection), key,
      }
    },
  }
}

/** Proves a slot. */
export const proof = async (world: ModelRoute, slot: string): Promise<void> => {
  must(await world.prove(slot))
}

/** Saves the whole configuration from a value. */
export const saveConfig = (world: Placed, value: unknown): Promise<Ran> => {
  const path = world.place.write('config.json', JSON.stringify(value))
  return world.run(['config', 'save', '--json', '--from', path])
}

/** What the gateway was asked, as far as tests look. */
export interface WireBody {
  readonly model: string
  readonly provider: { readonly only: readonly string[] }
  readonly messages: readonly { readonly content: unknown }[]
  readonly response_format: { readonly json_schema: { readonly strict: boolean } }
}

/** The JSON body of a request. */
export const bodyOf = (request: SeenRequest | undefined): WireBody =>
  JSON.parse(request?.body.toString('utf8') ?? 'null') as WireBody

/** Both routes of one deployment, set up through the program against the sandbox. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { claimCollection } from '../../src/gateway/call/claims.js'
import type { GatewayShow } from '../../src/gateway/projection.js'
import { proofCollection } from '../../src/gateway/proof.js'
import { gatewayCollection } from '../../src/gateway/setup.js'
import { collections } from '../../src/governance/rows.js'
import type { SeenRequest } from '../../src/sandbox/types.js'
import type { Ran, RunOptions } from '../harness.js'
import { makeRig, type Rig, type RigOptions } from '../alpha/rig.js'

/** Bytes of the gateway key, with a mark that leak tests search for. */
export const gatewayKey = 'MARK-GATEWAY-KEY-0123456789'

/** The read of a gateway that is set up. */
export type GatewayRead = NonNullable<GatewayShow['gateway']>

/** A deployment with helpers for the gateway. */
export interface GatewayRig extends Rig {
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

/** Fails where a line of setting up did. */
export const must = (ran: Ran): Ran => {
  if (ran.status !== 0) throw new Error(`setting up failed: ${ran.stderr}`)
  return ran
}

/** A rig of the text capability's tests with the gateway's helpers; the gateway is not set up. */
export const withGateway = async (t: Test, options: RigOptions = {}): Promise<GatewayRig> => {
  const rig = await makeRig(t, options)
  writeFileSync(rig.place.path('gateway-key'), `${gatewayKey}\n`)
  const show = async () => must(await rig.run(['gateway', 'show', '--json'])).json()
  return {
    ...rig,
    show,
    calls: () => rig.sandbox.log.all({ service: 'gateway' }),
    widen: async (flags, more) => rig.run([
      'gateway', 'setup', '--json', ...flags, '--acknowledge-cloud-egress',
      '--expected-policy-revision', String((await show()).policy_revision),
    ], more),
    prove: (slot, { args = [], ...more } = {}) =>
      rig.run(['gateway', 'prove', slot, '--json', ...args], more),
    kept: () => {
      const view = rig.view()
      const key = view.get(collections.credentials, 'vault:gateway_api_key')
      return {
        route: view.all(gatewayCollection), proofs: view.all(proofCollection),
        calls: view.all(claimCollection), key,
      }
    },
  }
}

/** The same with all three slots set, every purpose consented to, and the ceiling of alpha. */
export const withAllSlots = async (t: Test, options: RigOptions = {}): Promise<GatewayRig> => {
  const rig = await withGateway(t, options)
  const slot = (name: string) => ({
    model: `gateway/acme/${name}-1`, upstream_allow: ['acme-host', 'other-host'],
  })
  must(await saveConfig(rig, {
    gateway: {
      api_key: gatewayKey, spend_ceiling_microusd: 1_000_000, cloud_egress_acknowledged: true,
      consents: ['gateway.chat', 'gateway.report', 'gateway.digest', 'gateway.vision'],
      slots: { chat: slot('chat'), report: slot('report'), screenshot: slot('screenshot') },
    },
    expected_policy_revision: (await rig.show()).policy_revision,
  }))
  return rig
}

/** Saves the whole configuration from a value. */
export const saveConfig = (rig: Rig, value: unknown): Promise<Ran> => {
  writeFileSync(rig.place.path('config.json'), JSON.stringify(value))
  return rig.run(['config', 'save', '--json', '--from', rig.place.path('config.json')])
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

/** Text of a file. */
export const textOf = (path: string): string => readFileSync(path, 'utf8')

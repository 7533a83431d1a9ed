/**
 * One fact has one name. The same thing is broken while nothing runs and between two steps of a
 * contact; the configuration read, the refusal at the beginning and the one before the first byte
 * say it in the same word, or in the one word that the route's table has for it.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { alphaCredentialRef } from '../../src/alpha/constants.js'
import { alphaReasons, alphaRoute, alphaToldAs } from '../../src/alpha/readiness.js'
import { alphaSetupCollection, type AlphaTextSetup } from '../../src/alpha/setup.js'
import { gatewayCredentialRef } from '../../src/gateway/constants.js'
import { gatewayReasons, gatewayRoute, gatewayToldAs } from '../../src/gateway/readiness.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute } from '../../src/gateway/setup.js'
import type { Denial } from '../../src/governance/judge/fact.js'
import { collections } from '../../src/governance/rows.js'
import { tampering } from '../support/alpha/tamper.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { roomy } from '../world/alpha.js'
import type { Place, Ran } from '../world/place.js'
import { World } from '../world/world.js'

const makeBench = async (t: Test) => {
  const world = World.in(t).sandbox().state().session().alpha({ money: roomy }).gateway()
  const rig = await world.with(tampering)
  const { bench, place } = rig
  const keys = join(place.configDir, 'keys')
  const forget = (collection: typeof collections.credentials, id: string): Promise<void> =>
    bench.forge((tx) => tx.remove(collection, id))
  return {
    rig,
    bench,
    /** Broken for both routes. */
    both: {
      store_behind_anchor: () => {
        for (const name of readdirSync(keys)) {
          if (name.endsWith('.anchor')) rmSync(join(keys, name))
        }
      },
      witness_mismatch: () => rmSync(join(place.stateDir, 'witness.log')),
      policy_revoked: async () => void must(await rig.run(['policy', 'revoke'])),
    },
    alpha: (with_: Partial<AlphaTextSetup>) => () => bench.forge((tx) => {
      const setup = tx.get(alphaSetupCollection, 'the')
      if (setup) tx.put(alphaSetupCollection, 'the', { ...setup, ...with_ })
    }),
    gateway: (with_: Partial<GatewayRoute>) => () => bench.forge((tx) => {
      const route = tx.get(gatewayCollection, gatewayRouteId)
      if (route) tx.put(gatewayCollection, gatewayRouteId, { ...route, ...with_ })
    }),
    withoutKey: (ref: string) => () => forget(collections.credentials, ref),
  }
}

type Break = () => void | Promise<void>

const base = 'https://127.0.0.1:9/v1'

/** Breaks it once, at the step. */
const inFlight = (step: string, broken: Break) => {
  let done = false
  return async (at: string): Promise<void> => {
    if (done || at !== step) return
    done = true
    await broken()
  }
}

type Running = Pick<Place, 'run'>

/** A state that its anchor does not vouch for shows nothing but its status. */
const readRefused = async (t: Test, rig: Running, line: readonly string[]): Promise<void> => {
  const ran = await rig.run(line)
  t.strictSame([ran.status, ran.stdout, ran.error().code], [7, '', 'store_behind_anchor'])
}

const statusLine = async (rig: Running, name: string): Promise<{ reason_code: string | null }> =>
  must(await rig.run(['status', '--json'])).json()[name]

const reasonOf = (ran: Ran): string | null => ran.error().reason

t.test('A-070 A-084 A-086 A-157 A-158 the text capability says one fact in one word', async (t) => {
  const { rig, bench, both, alpha, withoutKey } = await makeBench(t)
  const breaks: Readonly<Record<string, Break>> = {
    ...both,
    route_disabled: alpha({ enabled: false }),
    key_missing: withoutKey(alphaCredentialRef),
    fixed_route_mismatch: alpha({ api_base: base }),
    credential_mismatch: alpha({ credential_fingerprint: 'another' }),
    ceiling_mismatch: alpha({ spend_ceiling_microusd: 999_999 }),
    consent_not_current: alpha({ plaintext_egress_consent_revision: 1 }),
  }
  const toldAs: Readonly<Record<string, string | undefined>> = alphaToldAs
  for (const [name, broken] of Object.entries(breaks)) {
    bench.reset()
    await broken()
    t.equal((await statusLine(rig, 'alpha')).reason_code, name, `${name}: the status`)
    if (name === 'store_behind_anchor') await readRefused(t, rig, ['alpha', 'show', '--json'])
    else {
      const read = must(await rig.run(['alpha', 'show', '--json'])).json().alpha_text
      t.equal(read.reason_code, name, `${name}: the read`)
    }
    t.equal(reasonOf(await rig.ask()), name, `${name}: a new ask`)
    bench.reset()
    const ran = await rig.ask({ at: inFlight('ask.before_dial', broken) })
    t.equal(reasonOf(ran), toldAs[name] ?? name, `${name}: an ask under way`)
    bench.sentNothing(t)
  }
})

t.test('A-070 A-158 the gateway says one fact in one word', async (t) => {
  const { rig, bench, both, gateway, withoutKey } = await makeBench(t)
  const breaks: Readonly<Record<string, Break>> = {
    ...both,
    route_disabled: gateway({ enabled: false }),
    key_missing: withoutKey(gatewayCredentialRef),
    slot_not_set: gateway({ slots: { chat: null, report: null, screenshot: null } }),
    fixed_route_mismatch: gateway({ api_base: base }),
    credential_mismatch: gateway({ credential_fingerprint: 'another' }),
    ceiling_mismatch: gateway({ spend_ceiling_microusd: 999_999 }),
  }
  const toldAs: Readonly<Record<string, string | undefined>> = gatewayToldAs
  for (const [name, broken] of Object.entries(breaks)) {
    bench.reset()
    await broken()
    if (name === 'store_behind_anchor') await readRefused(t, rig, ['gateway', 'show', '--json'])
    else t.equal((await rig.show()).gateway.slots.chat.reason_code, name, `${name}: the read`)
    t.equal(reasonOf(await rig.prove('chat')), name, `${name}: a new proof`)
    bench.reset()
    const ran = await rig.prove('chat', { at: inFlight('prove.before_dial', broken) })
    t.equal(reasonOf(ran), toldAs[name] ?? name, `${name}: a proof under way`)
    bench.sentNothing(t)
  }
})

t.test('a name has one class wherever a list has it, and every name of a read has words', async (t) => {
  const lists: readonly (readonly [
    readonly (Denial & { readonly phases: readonly string[] })[], object, object,
  ])[] = [
    [alphaRoute, alphaReasons, alphaToldAs], [gatewayRoute, gatewayReasons, gatewayToldAs],
  ]
  const kinds = new Map<string, string>()
  for (const [facts, words, toldAs] of lists) {
    for (const { name, kind, phases } of facts) {
      t.equal(kinds.get(name) ?? kind, kind, name)
      kinds.set(name, kind)
      if (phases.includes('status')) t.ok(name in words, `${name} has words`)
    }
    const names = facts.map(({ name }) => name)
    for (const name of Object.keys(words)) t.ok(names.includes(name), `${name} is a fact`)
    for (const name of Object.keys(toldAs)) t.ok(names.includes(name), `${name} is told otherwise`)
  }
})

import t from 'tap'
import fc from 'fast-check'
import * as v from 'valibot'
import { alphaShowShape, projectAlpha } from '../../src/alpha/projection.js'
import {
  alphaReasonOf, alphaReasons, type AlphaFacts, type AlphaReasonCode,
} from '../../src/alpha/readiness.js'
import type { AlphaTextSetup } from '../../src/alpha/setup.js'

const provider = { name: 'p', base_url: 'https://p.example/v1', model_id: 'fixed/model-1' }
const setup: AlphaTextSetup = {
  schema_version: 'svc.alpha.text.v1',
  enabled: true,
  profile_id: 'alpha.text',
  model_id: provider.model_id,
  api_base: provider.base_url,
  max_output_tokens: 100,
  timeout_seconds: 30,
  request_cost_bound_microusd: 5_000,
  spend_ceiling_microusd: 100_000,
  credential_ref: 'vault:alpha_text_api_key',
  credential_fingerprint: 'fp-1',
  plaintext_egress_consent_revision: 3,
}
const ready: AlphaFacts = {
  setup,
  provider,
  key: { present: true, fingerprint: 'fp-1', opens: () => true },
  policy: { revision: 3, block: null },
  toThisText: true,
  lapse: null, giver: { principal_id: 'prn_1', name: 'ada', disabled: false }, acknowledged: true,
  account: { ok: true, ceilingMicrousd: 100_000 },
}
const read = (change: Partial<AlphaFacts> = {}, setupChange: Partial<AlphaTextSetup> = {}) => {
  const show = projectAlpha({ ...ready, setup: { ...setup, ...setupChange }, ...change })
  if (show.alpha_text === null) throw new Error('there is a setup')
  return show.alpha_text
}
const block = (name: AlphaFacts['policy']['block']): Partial<AlphaFacts> =>
  ({ policy: { revision: 3, block: name } })

type Way = [Partial<AlphaFacts>, Partial<AlphaTextSetup>]

/** One way into each reason, alone. */
const ways: Record<AlphaReasonCode, Way> = {
  route_disabled: [{}, { enabled: false }],
  key_missing: [{ key: { present: false, fingerprint: null, opens: () => true } }, {}],
  store_behind_anchor: [block('store_behind_anchor'), {}],
  witness_mismatch: [block('witness_mismatch'), {}],
  key_unreadable: [{ key: { present: true, fingerprint: 'fp-1', opens: () => false } }, {}],
  fixed_route_mismatch: [{}, { model_id: 'another/model' }],
  credential_mismatch: [{ key: { present: true, fingerprint: 'fp-2', opens: () => true } }, {}],
  save_in_progress: [block('save_in_progress'), {}],
  save_interrupted: [block('save_interrupted'), {}],
  policy_revoked: [block('policy_revoked'), {}],
  consent_not_current: [{ lapse: 'not_current' }, {}],
  consent_giver_missing: [{ lapse: 'giver_missing' }, {}],
  consent_giver_disabled: [{ lapse: 'giver_disabled' }, {}],
  acknowledgment_missing: [{ acknowledged: false }, {}],
  ledger_not_unique: [{ account: { ok: false, problem: 'ledger_not_unique' } }, {}],
  ceiling_not_positive: [{ account: { ok: false, problem: 'ceiling_not_positive' } }, {}],
  ceiling_mismatch: [{ account: { ok: true, ceilingMicrousd: 99_999 } }, {}],
  request_bound_above_ceiling: [
    { account: { ok: true, ceilingMicrousd: 4_999 } }, { spend_ceiling_microusd: 4_999 },
  ],
}
const changed = ([, setupChange]: Way): AlphaTextSetup => ({ ...setup, ...setupChange })
const facts = (way: Way): AlphaFacts => ({ ...ready, ...way[0], setup: changed(way) })

t.test('A-052 the read holds enabled, the fixed route, the limits and the ceiling', async (t) => {
  t.hasStrict(read(), {
    enabled: true, profile_id: 'alpha.text', model_id: 'fixed/model-1',
    api_base: 'https://p.example/v1', max_output_tokens: 100, timeout_seconds: 30,
    request_cost_bound_microusd: 5_000, spend_ceiling_microusd: 100_000,
    shared_ceiling_microusd: 100_000,
  })
})

t.test('A-053 A-054 the read holds key facts, consent, status and reason', async (t) => {
  t.hasStrict(read(), {
    key_present: true, credential_fingerprint: 'fp-1', consent_current: true,
    status: 'configured', reason_code: null, reason: null,
  })
  t.equal(read(block('policy_revoked')).consent_current, false)
  t.equal(read({ lapse: 'not_current' }).consent_current, false)
})

t.test('A-055 A-056 transport flags and the plaintext statement stand in every read', async (t) => {
  for (const way of Object.values(ways)) {
    t.matchStrict(read(...way), {
      tls_transport: true, tee_verified: false, e2ee: false, provider_sees_plaintext: true,
      plaintext_statement: /provider.*plaintext/,
    })
  }
})

t.test('A-058 A-060 every reason has its status, and only configured has none', async (t) => {
  for (const [code, way] of Object.entries(ways)) {
    const { status, reason_code: shown, reason } = read(...way)
    t.equal(shown, code)
    t.equal(status, alphaReasons[code as AlphaReasonCode].status)
    t.ok(reason !== null && reason.length > 10)
  }
  t.hasStrict(read(), { status: 'configured', reason_code: null })
})

t.test('A-059 without key, consent or accounting the route is not configured', async (t) => {
  t.equal(read(...ways.key_missing).status, 'configuration_required')
  t.equal(read(...ways.consent_not_current).status, 'blocked')
  t.equal(read(...ways.ledger_not_unique).status, 'blocked')
  t.equal(read().status, 'configured')
  t.notMatch(JSON.stringify(read()), /availab/i, 'nothing is said of the provider')
})

t.test('A-061 without a setup the projection is null', async (t) => {
  t.strictSame(projectAlpha({ ...ready, setup: null }), { alpha_text: null, policy_revision: 3 })
})

t.test('A-084 A-086 an unusable or differing ceiling degrades the configuration', async (t) => {
  for (const code of ['ledger_not_unique', 'ceiling_not_positive', 'ceiling_mismatch'] as const) {
    t.hasStrict(read(...ways[code]), { status: 'blocked', reason_code: code })
  }
  const ceilingOf = (ceilingMicrousd: number) =>
    read({ account: { ok: true, ceilingMicrousd } }).reason_code
  t.equal(ceilingOf(0), 'ceiling_not_positive')
  t.equal(ceilingOf(100_001), 'ceiling_mismatch', 'a higher one is a mismatch too')
})

t.test('the first reason of the ladder is the one that is shown', async (t) => {
  const order = Object.keys(alphaReasons) as AlphaReasonCode[]
  // Two ways that set the same fact cannot hold together; all others are combined.
  for (const [i, first] of order.entries()) {
    for (const second of order.slice(i + 1)) {
      const [a, b] = [ways[first], ways[second]]
      const clash = Object.keys(a[0]).some((key) => key in b[0])
      if (clash) continue
      const both: Way = [{ ...b[0], ...a[0] }, { ...b[1], ...a[1] }]
      t.equal(alphaReasonOf(facts(both), changed(both)), first, `${first} before ${second}`)
    }
  }
})

t.test('the read has exactly the documented fields and fits its schema', async (t) => {
  t.strictSame(Object.keys(read()).sort(), [
    'acknowledged', 'api_base', 'capability', 'consent_current', 'consent_giver',
    'credential_fingerprint', 'credential_ref', 'e2ee', 'enabled', 'key_present',
    'max_output_tokens', 'model_id',
    'plaintext_egress_consent_revision', 'plaintext_statement', 'profile_id',
    'provider_sees_plaintext', 'reason', 'reason_code', 'request_cost_bound_microusd', 'runtime',
    'shared_ceiling_microusd', 'spend_ceiling_microusd', 'status', 'tee_verified',
    'timeout_seconds', 'tls_transport',
  ])
  fc.assert(fc.property(fc.constantFrom(...Object.values(ways)), (way) =>
    v.is(alphaShowShape, projectAlpha(facts(way)))))
  t.ok(v.is(alphaShowShape, projectAlpha({ ...ready, setup: null })))
})

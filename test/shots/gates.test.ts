/** Every gate alone blocks, by its own name; none has a permissive default. */
import t from 'tap'
import { sha256Hex } from '../../src/base/canonical.js'
import type { GatewayFacts } from '../../src/gateway/readiness.js'
import type { GatewayProof } from '../../src/gateway/proof.js'
import { routingControls } from '../../src/gateway/constants.js'
import type { Consent } from '../../src/governance/rows.js'
import {
  consentReaches, gateTextOf, imageBound, judgeGates, statusForNewImage, type GateFacts,
} from '../../src/shots/gates.js'
import type { ConsentLapse } from '../../src/governance/policy/consents.js'
import { unsetSettings, type SavedShotSettings } from '../../src/shots/source/settings.js'

const saved: SavedShotSettings = {
  ...unsetSettings, analysis: 'on', cloud_upload: 'on', fallbacks: 'deny',
  data_collection: 'deny', zdr: 'on', budget_microusd: 1_000, budget_requests: 5,
  request_cost_bound_microusd: 100,
}

const consent = (purpose: string): Consent => ({
  consent_id: `con_${purpose}`, route: 'gateway', purpose, state: 'granted', granted_revision: 3,
  bound_revision: 3, principal: 'prn_a', root: 'root_a',
  granted_at: '2026-11-20T10:00:00.000Z', expires_at: null, statement_sha256: sha256Hex('text'),
  acknowledgments: [],
})

const giver = { principal_id: 'prn_a', name: 'ada', disabled: false }

const given = (purpose: string) =>
  ({ [purpose]: { purpose, newest: consent(purpose), giver, lapse: null } })
const none = (purpose: string) =>
  ({ [purpose]: { purpose, newest: undefined, giver: null, lapse: 'not_current' } })

const slot = {
  model: 'gateway/acme/vision-1', upstream_allow: ['acme-host'],
  request_cost_bound_microusd: 500, timeout_seconds: 45,
}

const gateway: GatewayFacts = {
  route: {
    schema_version: 'svc.gateway.route.v1', grant_id: 'grt_a', enabled: true,
    api_base: 'https://gw.test/api/v1', credential_ref: 'vault:gateway_api_key',
    credential_fingerprint: 'print', spend_ceiling_microusd: 10_000,
    slots: { chat: null, report: null, screenshot: slot },
  },
  apiBase: 'https://gw.test/api/v1',
  key: { present: true, fingerprint: 'print', opens: () => true },
  policy: { revision: 3, block: null },
  account: { ok: true, ceilingMicrousd: 10_000 },
  consents: {
    ...none('gateway.chat'), ...none('gateway.report'), ...none('gateway.digest'),
    ...given('gateway.cloud_egress'), ...given('gateway.vision'),
  } as GatewayFacts['consents'],
  proofs: {
    chat: { state: 'missing', reason: null, proof: null },
    report: { state: 'missing', reason: null, proof: null },
    screenshot: { state: 'current', reason: null, proof: {} as GatewayProof },
  },
}

const facts: GateFacts = {
  saved, gateway,
  reserved: {
    capability: 'alpha.text.v1', profile: 'profile', runtime: 'runtime',
    credentialRef: 'vault:alpha_api_key', model: 'text/model',
  },
}

const withSaved = (change: Partial<SavedShotSettings>): GateFacts =>
  ({ ...facts, saved: { ...saved, ...change } })
const withGateway = (change: Partial<GatewayFacts>): GateFacts =>
  ({ ...facts, gateway: { ...gateway, ...change } })
const withRoute = (change: Partial<NonNullable<GatewayFacts['route']>>): GateFacts =>
  withGateway({ route: { ...gateway.route as NonNullable<GatewayFacts['route']>, ...change } })
const withSlot = (change: Partial<typeof slot>): GateFacts =>
  withRoute({ slots: { chat: null, report: null, screenshot: { ...slot, ...change } } })
const withoutConsent = (
  purpose: keyof GatewayFacts['consents'], lapse: ConsentLapse = 'not_current',
): GateFacts => withGateway({
  consents: { ...gateway.consents, [purpose]: { ...gateway.consents[purpose], lapse } },
})

t.test('S-017 with every gate open an image may be sent, and only then', async (t) => {
  const standing = judgeGates(facts)
  t.hasStrict(standing, { ready: true, reason: null, reasons: [], proof: 'current' })
  t.strictSame(standing.route?.setup, slot)
  t.equal(standing.route?.consent.purpose, 'gateway.vision')
  t.strictSame(statusForNewImage(standing), { analysis_status: 'pending', reason: null })
  const route = { ...gateway.route as NonNullable<GatewayFacts['route']> }
  t.equal(judgeGates(withGateway({
    route: { ...route, spend_ceiling_microusd: 100 }, account: { ok: true, ceilingMicrousd: 100 },
  })).ready, true, 'a ceiling of its very bound')
})

const noKey = { present: false, fingerprint: null, opens: () => true }

const alone: readonly (readonly [title: string, broken: GateFacts, reason: string])[] = [
  ['S-008 analysis off', withSaved({ analysis: 'off' }), 'analysis_off'],
  ['S-008 analysis never set', withSaved({ analysis: null }), 'analysis_off'],
  ['S-009 cloud upload off', withSaved({ cloud_upload: 'off' }), 'cloud_upload_off'],
  ['S-009 cloud upload never set', withSaved({ cloud_upload: null }), 'cloud_upload_off'],
  ['S-010 no route at all', withGateway({ route: null }), 'model_not_set'],
  [
    'S-010 no model', withRoute({ slots: { chat: slot, report: null, screenshot: null } }),
    'model_not_set',
  ],
  ...['vision-1', 'gateway/acme', 'gateway//m', 'gateway/p/*', 'other/p/m', 'gateway/p/', 'p/m']
    .map((model) => [
      `S-010 the model text ${model}`, withSlot({ model }), 'model_not_exact',
    ] as const),
  ['S-011 no key', withGateway({ key: noKey }), 'key_missing'],
  ['S-011 no key, nor a route', withGateway({ route: null, key: noKey }), 'key_missing'],
  ['S-012 an empty allow-list', withSlot({ upstream_allow: [] }), 'allow_list_missing'],
  ['S-013 fallbacks allowed', withSaved({ fallbacks: 'allow' }), 'fallbacks_not_denied'],
  ['S-013 fallbacks never set', withSaved({ fallbacks: null }), 'fallbacks_not_denied'],
  [
    'S-014 data collection allowed', withSaved({ data_collection: 'allow' }),
    'data_collection_not_denied',
  ],
  [
    'S-014 data collection never set', withSaved({ data_collection: null }),
    'data_collection_not_denied',
  ],
  ['S-015 zero retention off', withSaved({ zdr: 'off' }), 'zdr_not_on'],
  ['S-015 zero retention never set', withSaved({ zdr: null }), 'zdr_not_on'],
  ...[null, 0, -1, NaN, Infinity, 0.5].map((budget) => [
    `S-016 a budget of ${budget}`, withSaved({ budget_microusd: budget }), 'budget_not_set',
  ] as const),
  [
    'S-016 a budget of money below the bound of a request', withSaved({ budget_microusd: 99 }),
    'budget_below_bound',
  ],
  [
    'S-016 no budget of requests', withSaved({ budget_requests: null }),
    'budget_requests_not_set',
  ],
  [
    'S-016 no bound of a request', withSaved({ request_cost_bound_microusd: null }),
    'request_bound_not_set',
  ],
  [
    'S-016 a bound above the ceiling',
    withGateway({
      route: { ...gateway.route as NonNullable<GatewayFacts['route']>, spend_ceiling_microusd: 50 },
      account: { ok: true, ceilingMicrousd: 50 },
    }),
    'request_bound_above_ceiling',
  ],
  [
    'S-021 no acknowledgment of egress', withoutConsent('gateway.cloud_egress'),
    'egress_not_acknowledged',
  ],
  ['S-021 no consent to the purpose', withoutConsent('gateway.vision'), 'consent_not_current'],
  [
    'S-021 a disabled giver of the acknowledgment',
    withoutConsent('gateway.cloud_egress', 'giver_disabled'), 'principal_disabled',
  ],
  [
    'S-021 a disabled giver of the consent', withoutConsent('gateway.vision', 'giver_disabled'),
    'principal_disabled',
  ],
  [
    'S-021 an unknown giver of the consent', withoutConsent('gateway.vision', 'giver_missing'),
    'principal_missing',
  ],
  ['S-147 a disabled route', withRoute({ enabled: false }), 'route_disabled'],
  [
    'S-147 a revoked policy', withGateway({ policy: { revision: 4, block: 'policy_revoked' } }),
    'policy_revoked',
  ],
  [
    'S-147 a forged witness',
    withGateway({ policy: { revision: 4, block: 'witness_mismatch' } }), 'witness_mismatch',
  ],
  ['S-147 no gateway in the profile', withGateway({ apiBase: null }), 'gateway_not_in_profile'],
  [
    'S-147 another key',
    withGateway({ key: { present: true, fingerprint: 'other', opens: () => true } }),
    'credential_mismatch',
  ],
  [
    'S-147 two ledgers', withGateway({ account: { ok: false, problem: 'ledger_not_unique' } }),
    'ledger_not_unique',
  ],
]

for (const [title, broken, reason] of alone) {
  t.test(`${title} alone blocks, by its own name`, async (t) => {
    const standing = judgeGates(broken)
    t.equal(standing.ready, false)
    t.equal(standing.route, null)
    t.ok((standing.reasons as string[]).includes(reason), standing.reasons.join())
    t.strictSame(statusForNewImage(standing), {
      analysis_status: 'blocked', reason: standing.reasons[0] as string,
    })
    t.matchStrict(
      gateTextOf(reason), { text: /\.$/, next: /./ }, 'it has a sentence and a next step'
    )
  })
}

t.test('S-017 nothing set at all names every gate', async (t) => {
  const { reasons } = judgeGates({ ...withGateway({ route: null }), saved: unsetSettings })
  t.strictSame(reasons.slice(0, 8), [
    'analysis_off', 'cloud_upload_off', 'fallbacks_not_denied', 'data_collection_not_denied',
    'zdr_not_on', 'budget_not_set', 'budget_requests_not_set', 'request_bound_not_set',
  ])
  t.equal(new Set(reasons).size, reasons.length, 'each once')
})

t.test('S-152 a missing or stale proof is no gate of the scan', async (t) => {
  for (const state of ['missing', 'stale'] as const) {
    const proof = { state, reason: null, proof: null } as GatewayFacts['proofs']['screenshot']
    const standing = judgeGates(
      withGateway({ proofs: { ...gateway.proofs, screenshot: proof } }))
    t.hasStrict(standing, { ready: true, proof: state })
    t.strictSame(standing.gates, [`proof_${state}`], 'but nothing is sent without one')
    t.equal(statusForNewImage(standing).analysis_status, 'pending')
  }
})

t.test('S-013 S-014 S-015 the controls that are judged are the ones that are sent', async (t) => {
  t.strictSame(routingControls, {
    allow_fallbacks: false, data_collection: 'deny', zdr: true, require_parameters: true,
  })
})

t.test('S-021 a consent reaches forward only', async (t) => {
  const { granted_at } = consent('gateway.vision')
  const granted = { granted_at, granted_revision: 7 }
  t.ok(consentReaches(granted, { observed_at: granted_at }))
  t.notOk(consentReaches(granted, { observed_at: '2026-11-20T09:59:59.999Z' }))
})

t.test('S-021 a consent reaches by the revision of the policy, whatever the clock said', async (t) => {
  const granted = { granted_at: '2026-11-20T10:00:00.000Z', granted_revision: 7 }
  const later = '2026-11-20T11:00:00.000Z'
  const earlier = '2026-11-20T09:00:00.000Z'
  t.notOk(consentReaches(granted, { observed_at: later, observed_revision: 6 }))
  t.ok(consentReaches(granted, { observed_at: earlier, observed_revision: 7 }))
  t.ok(consentReaches(granted, { observed_at: earlier, observed_revision: 8 }))
})

t.test('S-016 the hold of an image is the lower of the two bounds', async (t) => {
  t.equal(imageBound({ request_cost_bound_microusd: 100 }, slot), 100)
  t.equal(imageBound({ request_cost_bound_microusd: 900 }, slot), 500)
  t.equal(gateTextOf('no such reason'), null)
  t.equal(gateTextOf('constructor'), null)
})

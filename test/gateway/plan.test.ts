import t from 'tap'
import {
  planGatewayChange, requireGatewayAuthority, type GatewayPlanFacts,
} from '../../src/gateway/plan.js'
import { parseGatewayInput, type GatewayRoute } from '../../src/gateway/setup.js'
import { codeOf } from '../support/refused.js'

const reserved = {
  capability: 'inference.alpha-text.v1', profile: 'alpha.text', runtime: 'alpha_text_native',
  credentialRef: 'vault:alpha_text_api_key', model: 'fixed/only-model',
}

const facts: GatewayPlanFacts = {
  apiBase: 'https://127.0.0.1:1/api/v1', reserved, ledgerCeilingMicrousd: 1_000_000,
  egressCurrent: true, egressKept: true, currentPurposes: new Set(['gateway.chat']),
  keptPurposes: new Set(['gateway.chat']), storedFingerprint: 'fp',
  suppliedFingerprint: null, keyGoes: false, newGrantId: 'grt_new',
}

const slot = { model: 'gateway/acme/chat-1', upstream_allow: ['acme-host', 'b-host'] }

const stored: GatewayRoute = {
  schema_version: 'svc.gateway.route.v1', grant_id: 'grt_kept', enabled: true,
  api_base: facts.apiBase, credential_ref: 'vault:gateway_api_key', credential_fingerprint: 'fp',
  spend_ceiling_microusd: 1_000_000,
  slots: {
    chat: { ...slot, request_cost_bound_microusd: 100_000, timeout_seconds: 45 },
    report: null, screenshot: null,
  },
}

const plan = (input: unknown, more: Partial<GatewayPlanFacts> = {}, current = stored) =>
  planGatewayChange(current, parseGatewayInput(input), { ...facts, ...more })

t.test('the same values again are no change, in another order of upstreams too', async (t) => {
  t.equal(plan({}).unchanged, true)
  t.equal(plan({ slots: { chat: { ...slot, upstream_allow: ['b-host', 'acme-host'] } } }).unchanged, true)
  t.equal(plan({ spend_ceiling_microusd: 1_000_000, api_key: ' ' }).unchanged, true)
  t.equal(plan({ cloud_egress_acknowledged: true, consents: ['gateway.chat'] }).unchanged, true)
})

t.test('whatever widens needs authority, whatever narrows does not', async (t) => {
  const widening: [string, unknown, Partial<GatewayPlanFacts>?][] = [
    ['a new slot', { slots: { report: slot } }],
    ['another model', { slots: { chat: { model: 'gateway/acme/chat-2' } } }],
    ['a further upstream', { slots: { chat: { upstream_allow: ['acme-host', 'c-host'] } } }],
    ['a higher bound', { slots: { chat: { request_cost_bound_microusd: 100_001 } } }],
    ['a longer timeout', { slots: { chat: { timeout_seconds: 46 } } }],
    ['a higher ceiling', { spend_ceiling_microusd: 1_000_001 }],
    ['another key', {}, { suppliedFingerprint: 'other' }],
    [
      'a consent', { consents: ['gateway.chat'] },
      { currentPurposes: new Set(), keptPurposes: new Set() },
    ],
    ['one that a save suspended', { consents: ['gateway.chat'] }, { currentPurposes: new Set() }],
    ['an acknowledgment', { cloud_egress_acknowledged: true }, { egressCurrent: false }],
  ]
  for (const [what, input, more] of widening) t.equal(plan(input, more).needsAuthority, true, what)
  const narrowing: [string, unknown][] = [
    ['disabling', { enabled: false }], ['a removed slot', { slots: { chat: null } }],
    ['a lower bound', { slots: { chat: { request_cost_bound_microusd: 1 } } }],
    ['a shorter timeout', { slots: { chat: { timeout_seconds: 1 } } }],
    ['a lower ceiling', { spend_ceiling_microusd: 1 }],
    ['an upstream less', { slots: { chat: { upstream_allow: ['acme-host'] } } }],
  ]
  for (const [what, input] of narrowing) {
    const narrowed = plan(input)
    t.equal(narrowed.unchanged, false, what)
    t.equal(narrowed.needsAuthority, false, what)
    t.equal(narrowed.grantsEgress, false, what)
  }
  const off = { ...stored, enabled: false }
  t.equal(plan({ enabled: true }, {}, off).needsAuthority, true, 'enabling')
  t.equal(plan({ slots: { report: slot } }, {}, off).needsAuthority, false, 'while disabled')
  t.equal(plan({ spend_ceiling_microusd: 2_000_000 }, {}, off).needsAuthority, true,
    'a higher ceiling is everybody\'s, also while disabled')
})

t.test('A-065 what a save has suspended comes back with the next one and is not given anew',
  async (t) => {
    const suspended = { egressCurrent: false, currentPurposes: new Set<never>() }
    const given = { cloud_egress_acknowledged: true, consents: ['gateway.chat'] }
    const again = plan(given, suspended)
    t.hasStrict(again, { unchanged: false, grants: [], grantsEgress: false, drops: [] })
    const ended = plan(given, { ...suspended, egressKept: false, keptPurposes: new Set() })
    t.hasStrict(ended, { grants: ['gateway.chat'], grantsEgress: true })
  })

t.test('authority is the acknowledgment and an expected revision, both', async (t) => {
  const widening = plan({ slots: { report: slot } })
  const need = (acknowledged: boolean, expectedPolicyRevision: number | null) =>
    codeOf(() => requireGatewayAuthority(widening, { acknowledged, expectedPolicyRevision }))
  t.equal(need(false, 3), 'acknowledgment_required')
  t.equal(need(true, null), 'expected_policy_revision_required')
  t.equal(need(true, 3), 'none')
  t.equal(codeOf(() => requireGatewayAuthority(plan({ enabled: false }), {
    acknowledged: false, expectedPolicyRevision: null,
  })), 'none')
})

t.test('a consent ends with the words it was given to', async (t) => {
  t.strictSame(plan({ slots: { chat: { model: 'gateway/acme/chat-2' } } }).drops, [
    'gateway.cloud_egress', 'gateway.chat',
  ])
  t.strictSame(plan({ slots: { chat: null } }).drops, ['gateway.chat'])
  t.strictSame(plan({ slots: { chat: { timeout_seconds: 1 } } }).drops, [], 'a limit is no purpose')
  t.strictSame(plan({ spend_ceiling_microusd: 1 }).drops, [], 'the ceiling is no purpose')
  t.equal(plan({ enabled: false }).drops.length, 5)
})

t.test('what no save may say is refused by name', async (t) => {
  const refusals: [unknown, string][] = [
    [null, 'gateway_null'], [[], 'gateway_invalid'], [{ extra: 1 }, 'gateway_invalid'],
    [{ grant_id: 'grt_x' }, 'gateway_field_read_only'],
    [{ credential_fingerprint: 'x' }, 'gateway_field_read_only'],
    [{ api_base: 'https://x' }, 'gateway_field_read_only'],
    [{ cloud_egress_acknowledged: 'true' }, 'gateway_invalid'],
    [{ consents: ['alpha.text'] }, 'gateway_invalid'],
    [{ consents: ['gateway.cloud_egress'] }, 'gateway_invalid'],
    [{ consents: ['gateway.vision'] }, 'consent_without_slot'],
    [{ enabled: false, consents: ['gateway.chat'] }, 'consent_while_disabled'],
    [{ slots: { report: { model: 'gateway/a/b' } } }, 'gateway_field_required'],
    [{ slots: { report: { upstream_allow: ['a'] } } }, 'gateway_field_required'],
    [{ slots: { chat: { upstream_allow: [] } } }, 'gateway_invalid'],
    [{ slots: { chat: { upstream_allow: ['a', 'a'] } } }, 'gateway_invalid'],
    [{ slots: { chat: { upstream_allow: ['a b'] } } }, 'gateway_invalid'],
    [
      { slots: { chat: { request_cost_bound_microusd: 1_000_001 } } },
      'request_bound_above_ceiling',
    ],
    [{ slots: { chat: { timeout_seconds: 121 } } }, 'gateway_invalid'],
    [{ slots: { other: slot } }, 'gateway_invalid'],
    [{ spend_ceiling_microusd: 0 }, 'gateway_invalid'], [{ api_key: 'a b' }, 'gateway_invalid'],
  ]
  for (const [input, code] of refusals) {
    t.equal(codeOf(() => plan(input)), code, JSON.stringify(input))
  }
})

t.test('A-011 A-161 no slot and no allow-list takes a name of the text capability', async (t) => {
  const model = (text: string) => codeOf(() => plan({ slots: { chat: { model: text } } }))
  for (const text of [
    'alpha.text', 'inference.alpha-text.v1', 'fixed/only-model', 'gateway/fixed/only-model',
    'gateway/alpha.text/x', 'gateway/x/alpha_text_native', 'gateway/FIXED/Only-Model',
    'alpha/x/y', 'gateway/x', 'gateway/x/*', 'gateway//x', 'gateway/x/y/z', 'x/y',
  ]) t.equal(model(text), 'selector_refused', text)
  t.equal(model('gateway/fixed/other-model'), 'none')
  const list = (slug: string) =>
    codeOf(() => plan({ slots: { chat: { upstream_allow: ['acme-host', slug] } } }))
  t.equal(list('alpha.text'), 'upstream_refused')
  t.equal(list('Alpha.Text'), 'upstream_refused')
  t.equal(list('alpha_text_native'), 'upstream_refused')
  t.equal(list('x/alpha.text'), 'upstream_refused')
  t.equal(list('vault:alpha_text_api_key'), 'gateway_invalid', 'a credential is no upstream')
})

t.test('A-161 a general allowlist cannot be widened to the alpha route', async (t) => {
  const good = { chat: slot, report: { ...slot, model: 'gateway/c/d' } }
  const { slots } = plan({ slots: good }).next
  t.strictSame([slots.chat?.model, slots.report?.model], ['gateway/acme/chat-1', 'gateway/c/d'])
  for (const bad of ['alpha.text', 'fixed/only-model', 'vault:alpha_text_api_key', '*']) {
    const widened = { ...good, screenshot: { ...slot, model: bad } }
    t.equal(codeOf(() => plan({ slots: widened })), 'selector_refused', bad)
  }
  const list = (length: number) => codeOf(() => plan({
    slots: { chat: { upstream_allow: Array.from({ length }, (_, at) => `host-${at}`) } },
  }))
  t.strictSame([list(16), list(17)], ['none', 'gateway_invalid'], 'a list has an end')
})

t.test('a first save takes the ledger\'s ceiling and keeps its grant for ever', async (t) => {
  const first = planGatewayChange(
    null, parseGatewayInput({ slots: { chat: slot }, cloud_egress_acknowledged: true }), facts,
  )
  t.hasStrict(first, {
    needsAuthority: true, grantsEgress: true, ceilingMicrousd: 1_000_000,
    next: {
      grant_id: 'grt_new', enabled: true,
      slots: { chat: { request_cost_bound_microusd: 100_000 } },
    },
  })
  t.equal(plan({ slots: { report: slot } }).next.grant_id, 'grt_kept')
  t.equal(codeOf(() => planGatewayChange(
    null, parseGatewayInput({ slots: { chat: slot } }), { ...facts, ledgerCeilingMicrousd: null },
  )), 'gateway_field_required')
  t.throws(() => planGatewayChange(
    null, parseGatewayInput({ slots: { chat: {}, report: { model: 'gateway/a/b' } } }),
    { ...facts, ledgerCeilingMicrousd: null },
  ), { message: 'The first save must name spend_ceiling_microusd, slots.chat.model, '
    + 'slots.chat.upstream_allow, slots.report.upstream_allow.' }, 'all of it at once')
})

t.test('what a save closes is each slot that sent elsewhere, or all of them', async (t) => {
  const all = [{ kind: 'gateway_slot', target: null }]
  const chat = [{ kind: 'gateway_slot', target: 'chat' }]
  const closing: [string, unknown, unknown, Partial<GatewayPlanFacts>?][] = [
    ['disabling', { enabled: false }, all],
    ['another key', {}, all, { suppliedFingerprint: 'other' }],
    ['another base', {}, all, { apiBase: 'https://127.0.0.1:1/api/v2' }],
    ['a removed slot', { slots: { chat: null } }, chat],
    ['another model', { slots: { chat: { model: 'gateway/acme/chat-2' } } }, chat],
    ['fewer upstreams', { slots: { chat: { upstream_allow: ['b-host'] } } }, chat],
    ['a further upstream', { slots: { chat: { upstream_allow: [...slot.upstream_allow, 'c'] } } },
      []],
    ['a bound', { slots: { chat: { request_cost_bound_microusd: 90_000 } } }, []],
    ['a new slot', { slots: { report: slot } }, []],
    ['nothing', {}, []],
  ]
  for (const [what, input, closes, more] of closing) {
    t.strictSame(plan(input, more).closes, closes, what)
  }
  const disabled = { ...stored, enabled: false }
  t.strictSame(plan({ enabled: true }, {}, disabled).closes, [], 'it was closed')
})

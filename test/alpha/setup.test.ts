import t from 'tap'
import fc from 'fast-check'
import * as v from 'valibot'
import { isBlankKey } from '../../src/alpha/api-key.js'
import {
  alphaSetupShape, parseSetupInput, planSetupChange, readOnlySetupFields, requireSaveAuthority,
  type AlphaTextSetup, type AlphaTextSetupInput, type SetupFacts, type SetupPlan,
} from '../../src/alpha/setup.js'
import type { SallyportError } from '../../src/base/errors.js'
import { parseStrictJson } from '../../src/base/strict-json.js'
import { errorOf } from '../support/refused.js'

const provider = { name: 'p', base_url: 'https://p.example/v1', model_id: 'fixed/model-1' }
const stored: AlphaTextSetup = {
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
const limits = {
  max_output_tokens: 100, timeout_seconds: 30, request_cost_bound_microusd: 5_000,
  spend_ceiling_microusd: 100_000,
}
const facts: SetupFacts = {
  provider, consentCurrent: true, consentKept: true, ledgerCeilingMicrousd: 100_000,
  storedFingerprint: 'fp-1',
  suppliedFingerprint: null, keyGoes: false,
}
const disabled: AlphaTextSetup = { ...stored, enabled: false }

const without = (object: object, name: string): object =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
const fromJson = (text: string): AlphaTextSetupInput =>
  parseSetupInput(parseStrictJson(Buffer.from(text), { bytesMax: 65_536, depthMax: 8 }))
const refusal = (text: string): SallyportError => errorOf(() => fromJson(text))
const plan = (
  current: AlphaTextSetup | null, input: object, more: Partial<SetupFacts> = {},
): SetupPlan => planSetupChange(current, parseSetupInput(input), { ...facts, ...more })

t.test('A-028 A-030 a stored setup with another field or version is refused', async (t) => {
  t.ok(v.is(alphaSetupShape, stored))
  t.notOk(v.is(alphaSetupShape, { ...stored, extra: 1 }))
  t.notOk(v.is(alphaSetupShape, { ...stored, schema_version: 'svc.alpha.text.v2' }))
  t.notOk(v.is(alphaSetupShape, without(stored, 'enabled')))
})

t.test('A-031 enabled is false when it is left out, and a boolean when it is given', async (t) => {
  t.equal(plan(null, limits).next.enabled, false)
  t.equal(plan(null, { ...limits, enabled: true }).next.enabled, true)
  t.equal(plan(null, { ...limits, enabled: false }).next.enabled, false)
  for (const bad of ['"true"', '1', '0', 'null', '"yes"', '[]']) {
    t.equal(refusal(`{"enabled":${bad}}`).details['field'], 'enabled', bad)
    t.notOk(v.is(alphaSetupShape, { ...stored, enabled: JSON.parse(bad) }), bad)
  }
})

/** A field of the write shape and of the stored row takes and refuses these lexemes. */
const fieldTest = (
  title: string, field: string, good: readonly string[], bad: readonly string[],
): void => {
  t.test(title, async (t) => {
    for (const lexeme of good) {
      const input = fromJson(`{"${field}":${lexeme}}`) as Record<string, unknown>
      t.equal(input[field], Number(lexeme), lexeme)
      t.ok(v.is(alphaSetupShape, { ...stored, [field]: Number(lexeme) }), `stored ${lexeme}`)
    }
    for (const lexeme of bad) {
      const error = refusal(`{"${field}":${lexeme}}`)
      t.equal(error.kind, 'rejected', lexeme)
      t.hasStrict(error, { code: 'setup_invalid', details: { field } }, lexeme)
    }
    for (const value of bad.map((lexeme) => Number(lexeme)).filter((n) => n < 1 || n > 1e9)) {
      t.notOk(v.is(alphaSetupShape, { ...stored, [field]: value }), `stored ${value}`)
    }
    t.notOk(v.is(alphaSetupShape, { ...stored, [field]: '5' }), 'stored text')
  })
}

const notIntegers = ['0', '-1', '1.5', '1.0', '1e1', '-0', '"5"', 'true', 'null', '[]']
fieldTest('A-033 max_output_tokens is a strict integer 1..1024', 'max_output_tokens',
  ['1', '1024'], [...notIntegers, '1025', '9007199254740993'])
fieldTest('A-034 timeout_seconds is a finite number 1..45', 'timeout_seconds',
  ['1', '2.5', '45', '45.0', '1e1'],
  ['0.99', '45.01', '0', '-1', '1e999', '-1e999', '"5"', 'true', 'null'])
fieldTest('A-035 request_cost_bound_microusd is a strict integer of the range',
  'request_cost_bound_microusd', ['1', '1000000000'], [...notIntegers, '1000000001', '1e999'])
fieldTest('A-036 spend_ceiling_microusd is a strict integer of the range',
  'spend_ceiling_microusd', ['1', '1000000000'], [...notIntegers, '1000000001', '1e999'])

t.test('A-034 NaN and Infinity are no timeout, written or stored', async (t) => {
  for (const value of [NaN, Infinity, -Infinity]) {
    t.equal(errorOf(() => parseSetupInput({ timeout_seconds: value })).code, 'setup_invalid')
    t.notOk(v.is(alphaSetupShape, { ...stored, timeout_seconds: value }))
  }
})

t.test('A-037 another credential_ref is damage', async (t) => {
  t.equal(plan(null, limits).next.credential_ref, 'vault:alpha_text_api_key')
  t.notOk(v.is(alphaSetupShape, { ...stored, credential_ref: 'vault:gateway_api_key' }))
})

t.test('A-040 the bound may reach the ceiling and not pass it', async (t) => {
  const at = { ...limits, request_cost_bound_microusd: 100_000 }
  t.equal(plan(null, at).next.request_cost_bound_microusd, 100_000)
  const over = { ...limits, request_cost_bound_microusd: 100_001 }
  t.equal(errorOf(() => plan(null, over)).code, 'request_bound_above_ceiling')
  t.equal(errorOf(() => plan(stored, { ...over, enabled: true })).code,
    'request_bound_above_ceiling')
  t.equal(errorOf(() => plan(disabled, { spend_ceiling_microusd: 4_999 })).code,
    'request_bound_above_ceiling')
})

t.test('A-041 A-042 a blank or absent key changes no key', async (t) => {
  for (const key of ['', ' ', '\n', '\t ']) {
    t.ok(isBlankKey(fromJson(JSON.stringify({ api_key: key })).api_key ?? 'x'))
  }
  t.equal(plan(stored, { enabled: true, api_key: '' }).keyChange, 'none')
  t.equal(plan(stored, { enabled: true }).unchanged, true)
  t.equal(plan(stored, { enabled: true }, { suppliedFingerprint: 'fp-2' }).keyChange, 'set')
  t.equal(plan(stored, { enabled: true }, { suppliedFingerprint: 'fp-1' }).keyChange, 'none')
  t.equal(plan(stored, { enabled: true }, {
    suppliedFingerprint: 'fp-2', storedFingerprint: 'fp-2',
  }).keyChange, 'set', 'a save that died had stored it, and no set-up names it')
  t.equal(plan(stored, { enabled: true }, {
    suppliedFingerprint: 'fp-1', storedFingerprint: null,
  }).keyChange, 'set', 'the vault lost it')
})

t.test('a key that cannot stand in a header is refused and never quoted', async (t) => {
  for (const key of ['two words', 'line\nfeed', 'schlüssel', 'k'.repeat(4_097), 'nul\u0000']) {
    const error = refusal(JSON.stringify({ api_key: key }))
    t.hasStrict(error, { code: 'setup_invalid', details: { field: 'api_key' } })
    t.notMatch(error.message + JSON.stringify(error.details), key)
  }
  for (const value of [1, true, null, ['k']]) {
    t.equal(refusal(JSON.stringify({ api_key: value })).code, 'setup_invalid')
  }
})

t.test('A-032 A-046 a save naming a read-only field is refused, equal value or not', async (t) => {
  for (const field of readOnlySetupFields) {
    for (const value of [stored[field], 'other', null]) {
      const error = errorOf(() => parseSetupInput({ ...limits, [field]: value }))
      t.hasStrict(error, { kind: 'rejected', code: 'setup_field_read_only', details: { field } })
    }
  }
})

t.test('A-044 exactly the five fields, the key and the acknowledgment can be saved', async (t) => {
  const all = {
    ...limits, enabled: true, api_key: 'k', plaintext_provider_egress_acknowledged: true,
  }
  t.strictSame(parseSetupInput(all), all)
  for (const field of ['owner', 'allowed', 'model', 'proxy', 'policy_revision', '__proto__x']) {
    const error = errorOf(() => parseSetupInput({ ...all, [field]: 1 }))
    t.equal(error.code, 'setup_invalid', field)
    t.notMatch(error.message, new RegExp(`\\b${field}\\b`), 'an unknown name is input')
  }
  const next = plan(null, { ...limits, timeout_seconds: 7.5 }).next
  t.hasStrict(next, { timeout_seconds: 7.5, max_output_tokens: 100 })
})

t.test('A-045 the acknowledgment is a strict boolean, false when left out', async (t) => {
  t.equal(parseSetupInput({}).plaintext_provider_egress_acknowledged, false)
  for (const bad of ['"true"', '1', '"yes"', 'null', '[true]']) {
    const error = refusal(`{"plaintext_provider_egress_acknowledged":${bad}}`)
    t.equal(error.details['field'], 'plaintext_provider_egress_acknowledged', bad)
  }
})

t.test('A-049 a null setup is refused; so is anything that is no object', async (t) => {
  t.equal(errorOf(() => parseSetupInput(null)).code, 'alpha_text_null')
  for (const value of [[], 'x', 5, true]) {
    t.equal(errorOf(() => parseSetupInput(value)).code, 'setup_invalid')
  }
})

t.test('A-050 disabling alone keeps key and limits and needs nothing', async (t) => {
  for (const input of [{ enabled: false }, { ...limits, enabled: false }, {}]) {
    const change = plan(stored, input)
    t.hasStrict(change, {
      disablesOnly: true, needsAuthority: false, consent: 'withdraw', ceilingMicrousd: null,
      keyChange: 'none', unchanged: false,
    })
    t.strictSame(change.next, { ...stored, enabled: false })
    requireSaveAuthority(change, { acknowledged: false, expectedPolicyRevision: null })
  }
  const above = { ...stored, spend_ceiling_microusd: 1 }
  t.ok(plan(above, { enabled: false }).disablesOnly, 'also with a bound above the ceiling')
})

t.test('A-063 A-064 enabling or changing an enabled route needs both proofs', async (t) => {
  const changes: [string, AlphaTextSetup | null, object, Partial<SetupFacts>][] = [
    ['first enable', null, { ...limits, enabled: true }, { ledgerCeilingMicrousd: null }],
    ['enable', disabled, { enabled: true }, {}],
    ['tokens', stored, { enabled: true, max_output_tokens: 99 }, {}],
    ['timeout', stored, { enabled: true, timeout_seconds: 29 }, {}],
    ['bound', stored, { enabled: true, request_cost_bound_microusd: 4_999 }, {}],
    ['ceiling', stored, { enabled: true, spend_ceiling_microusd: 99_999 }, {}],
    ['key', stored, { enabled: true, api_key: 'k' }, { suppliedFingerprint: 'fp-2' }],
    ['a field without naming enabled', stored, { max_output_tokens: 101 }, {}],
    ['a field while disabling', stored, { enabled: false, timeout_seconds: 31 }, {}],
    ['a key while disabling', stored, { enabled: false }, { suppliedFingerprint: 'fp-2' }],
  ]
  for (const [name, current, input, more] of changes) {
    const change = plan(current, input, more)
    t.ok(change.needsAuthority, name)
    t.ok(change.enabling !== change.changesEnabledRoute, `${name}: one of the two`)
    const given = { acknowledged: true, expectedPolicyRevision: 3 }
    requireSaveAuthority(change, given)
    t.equal(errorOf(() => requireSaveAuthority(change, { ...given, acknowledged: false })).code,
      'acknowledgment_required', name)
    t.equal(errorOf(() =>
      requireSaveAuthority(change, { ...given, expectedPolicyRevision: null })).code,
    'expected_policy_revision_required', name)
  }
})

t.test('A-066 a consent is granted only with the route enabled by this save', async (t) => {
  t.equal(plan(disabled, { enabled: true }).consent, 'grant')
  const changed = { enabled: true, timeout_seconds: 3 }
  t.equal(plan(stored, changed, { consentKept: false }).consent, 'grant')
  t.equal(plan(stored, changed).consent, 'keep', 'no field that is saved widens what leaves')
  t.equal(plan({ ...stored, model_id: 'another/model' }, changed).consent, 'grant')
  t.equal(plan({ ...stored, api_base: 'https://o.example/v1' }, changed).consent, 'grant')
  t.equal(plan(stored, { enabled: false, timeout_seconds: 3 }).consent, 'withdraw')
  t.equal(plan(disabled, { timeout_seconds: 3 }).consent, 'keep')
  t.equal(plan(stored, { enabled: true }).consent, 'keep')
  t.equal(plan(null, limits).consent, 'keep')
})

t.test('A-067 a repeated save revives no consent without a new acknowledgment', async (t) => {
  const gone = { consentCurrent: false, consentKept: false }
  const silent = plan(stored, { ...limits, enabled: true, api_key: '' }, gone)
  t.hasStrict(silent, { unchanged: true, regrants: false, consent: 'keep', needsAuthority: false })
  const given = plan(stored,
    { ...limits, enabled: true, plaintext_provider_egress_acknowledged: true }, gone)
  t.hasStrict(given, { unchanged: false, regrants: true, consent: 'grant', needsAuthority: true })
  t.hasStrict(plan(stored, { enabled: true, plaintext_provider_egress_acknowledged: true }),
    { unchanged: true, regrants: false }, 'a current consent is not granted anew')
})

t.test('changing a disabled route needs no proof and grants nothing', async (t) => {
  const asked = { timeout_seconds: 3, api_key: 'k' }
  const planned = plan(disabled, asked, { suppliedFingerprint: 'fp-9' })
  t.hasStrict(planned, {
    needsAuthority: false, unchanged: false, keyChange: 'set', consent: 'keep',
    ceilingMicrousd: 100_000,
  })
  t.hasStrict(plan(disabled, limits), { unchanged: true, ceilingMicrousd: null })
})

t.test('a first save names every limit, but takes the shared ceiling when there is one',
  async (t) => {
    for (const field of Object.keys(limits)) {
      const run = (ledger: number | null): SetupPlan =>
        plan(null, without(limits, field), { ledgerCeilingMicrousd: ledger })
      t.hasStrict(errorOf(() => run(null)), { code: 'setup_field_required', details: { field } })
      if (field === 'spend_ceiling_microusd') {
        t.equal(run(70_000).next.spend_ceiling_microusd, 70_000)
      } else t.equal(errorOf(() => run(70_000)).details['field'], field)
    }
  })

t.test('a first save that lacks several limits names them all at once', async (t) => {
  const error = errorOf(() => plan(null, {}, { ledgerCeilingMicrousd: 70_000 }))
  t.equal(error.details['fields'], 'max_output_tokens,timeout_seconds,request_cost_bound_microusd')
  t.match(error.message, 'max_output_tokens, timeout_seconds, request_cost_bound_microusd.')
  t.match(error.next, 'sallyport alpha setup --help')
})

t.test('A-029 the planned setup is frozen and valid; server-set fields keep their values',
  async (t) => {
    fc.assert(fc.property(
      fc.record({
        enabled: fc.boolean(),
        max_output_tokens: fc.integer({ min: 1, max: 1_024 }),
        timeout_seconds: fc.double({ min: 1, max: 45, noNaN: true }),
        request_cost_bound_microusd: fc.integer({ min: 1, max: 100_000 }),
      }, { requiredKeys: [] }),
      fc.constantFrom(stored, disabled),
      (input, current) => {
        const { next } = plan(current, input)
        return Object.isFrozen(next) && v.is(alphaSetupShape, next) &&
          next.credential_fingerprint === current.credential_fingerprint &&
          next.plaintext_egress_consent_revision === current.plaintext_egress_consent_revision
      },
    ))
    t.throws(() => Object.assign(plan(stored, {}).next, { enabled: true }),
      new TypeError('Cannot assign to read only property \'enabled\' of object \'#<Object>\''))
  })

t.test('a stored provider that is not the sealed one counts as a change', async (t) => {
  const forged = { ...stored, api_base: 'https://elsewhere.example/v1' }
  const change = plan(forged, { enabled: true })
  t.hasStrict(change, { unchanged: false, changesEnabledRoute: true })
  t.equal(change.next.api_base, provider.base_url)
})

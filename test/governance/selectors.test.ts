import fc from 'fast-check'
import t from 'tap'
import {
  parseGatewaySelector, requireGatewayCredential, type ReservedNames,
} from '../../src/governance/selectors.js'
import { codeOf } from '../support/refused.js'

const reserved: ReservedNames = {
  capability: 'inference.alpha-text.v1',
  profile: 'alpha.text',
  runtime: 'alpha_text_native',
  credentialRef: 'vault:alpha_text_api_key',
  model: 'Maker/Fixed-Model-30B',
}

t.test('A-011 a general selector is exactly gateway/<provider>/<model>', async (t) => {
  t.hasStrict(parseGatewaySelector('gateway/maker/model-1.5:free', reserved), {
    provider: 'maker', model: 'model-1.5:free', wireModel: 'maker/model-1.5:free',
  })
  const bad = [
    '', 'gateway', 'gateway/', 'gateway/maker', 'gateway/maker/', 'gateway//model', 'maker/model',
    'gateway/maker/model/x', ' gateway/maker/model', 'gateway/maker/model ', 'GATEWAY/maker/model',
    'gateway/maker/mo del', 'gateway/maker/model\n', 'gateway/../model', 'gateway/maker/.model',
    'alpha/maker/model', 'gateway\\maker\\model', 'gateway/maker/modèle', 'auto', 'default',
    `gateway/maker/${'m'.repeat(200)}`,
  ]
  for (const text of bad) {
    t.equal(codeOf(() => parseGatewaySelector(text, reserved)), 'selector_refused', text)
  }
})

t.test('A-011 the alpha profile, model, runtime and credential select nothing', async (t) => {
  const names = [
    ...Object.values(reserved), 'gateway/alpha.text/model', 'gateway/maker/alpha.text',
    'gateway/maker/ALPHA.TEXT', 'gateway/Maker/Fixed-Model-30B', 'gateway/maker/fixed-model-30b',
    'gateway/alpha_text_native/x', 'gateway/x/inference.alpha-text.v1',
  ]
  for (const text of names) {
    t.equal(codeOf(() => parseGatewaySelector(text, reserved)), 'selector_refused', text)
  }
})

t.test('A-161 a general route reads no credential but a gateway\'s own', async (t) => {
  t.equal(requireGatewayCredential('vault:gateway_api_key', reserved), 'vault:gateway_api_key')
  const bad = [
    'vault:alpha_text_api_key', 'vault:codehost_token', 'gateway_api_key', 'vault:gateway_',
    'vault:gateway_x/../alpha_text_api_key', 'env:KEY', '', 'vault:GATEWAY_API_KEY',
  ]
  for (const ref of bad) {
    t.equal(codeOf(() => requireGatewayCredential(ref, reserved)), 'credential_refused', ref)
  }
  const own = { ...reserved, credentialRef: 'vault:gateway_odd' }
  t.equal(codeOf(() => requireGatewayCredential('vault:gateway_odd', own)), 'credential_refused')
})

t.test('A-011 whatever parses goes out under the gateway\'s own form', async (t) => {
  const texts = fc.oneof(fc.string(), fc.string().map((rest) => `gateway/${rest}`))
  t.doesNotThrow(() => fc.assert(fc.property(texts, (text) => {
    const told = codeOf(() => parseGatewaySelector(text, reserved))
    if (told !== 'none') return told === 'selector_refused'
    const { wireModel } = parseGatewaySelector(text, reserved)
    return `gateway/${wireModel}` === text && wireModel.split('/').length === 2
  }), { numRuns: 2000 }))
})

import t from 'tap'
import { sha256 } from '../support/sha256.js'
import { alphaConsentStatement, alphaConsentVersion, plaintextStatement } from
  '../../src/alpha/consent-text.js'

const provider = { name: 'p', base_url: 'https://p.example/v1', model_id: 'fixed/model-1' }
const statement = alphaConsentStatement(provider)
const flat = statement.text.replaceAll(/\s+/g, ' ')

t.test('A-072 the consent says that a global revoke stops both routes', async (t) => {
  t.match(flat, /global revoke .*stops both this route and the gateway route/)
})

t.test('A-006 A-056 the consent says plaintext and claims no protection at the far end',
  async (t) => {
    t.match(flat, /sent in plaintext to p at https:\/\/p\.example\/v1/)
    t.match(flat, /no attestation, no trusted execution, no end-to-end encryption/)
    t.match(plaintextStatement, /plaintext/)
    const denial = 'no attestation, no trusted execution, no end-to-end encryption'
    t.notMatch(flat.replace(denial, ''), /attest|trusted execution|enclave|end-to-end|e2e|TEE\b/i)
  })

t.test('A-164 the consent calls the bound a local hold and no provider maximum', async (t) => {
  t.match(flat, /bound is a local hold .* not a maximum that the provider enforces/)
})

t.test('the digest is that of the exact text, and another provider is another text', async (t) => {
  t.equal(statement.sha256, sha256(statement.text))
  t.equal(statement.version, alphaConsentVersion)
  t.match(statement.text, alphaConsentVersion)
  for (const change of [{ name: 'q' }, { base_url: 'https://q/v1' }, { model_id: 'm' }]) {
    t.not(alphaConsentStatement({ ...provider, ...change }).sha256, statement.sha256)
  }
})

import { sha256Hex } from '../base/canonical.js'
import type { AlphaProvider } from './constants.js'

/** Version of the wording; a change of one word is a new version. */
export const alphaConsentVersion = 'alpha.text.plaintext-egress.v1'

/** One sentence for reads and receipts: what the provider sees. */
export const plaintextStatement =
  'The provider receives the question and produces the answer in plaintext; ' +
  'TLS protects the way there, nothing protects the content from the provider.'

/** What an operator acknowledges, with the digest that the consent row keeps. */
interface ConsentStatement {
  readonly version: string
  readonly text: string
  /** SHA-256 of the text's UTF-8 bytes, lowercase hex. */
  readonly sha256: string
}

/**
 * The exact text shown before the acknowledgment, for this deployment's provider (A-072, A-006,
 * The consent is to these words: the digest goes into the consent row.
 */
export const alphaConsentStatement = (provider: AlphaProvider): ConsentStatement => {
  const text = [
    `Consent to plaintext egress (${alphaConsentVersion})`,
    '',
    `1. Each question you ask is sent in plaintext to ${provider.name} at ${provider.base_url},`,
    `   for the model ${provider.model_id}. The provider can read, keep and use both question`,
    '   and answer.',
    '2. The connection is ordinary verified TLS. Nothing is claimed about what runs at the other',
    '   end: no attestation, no trusted execution, no end-to-end encryption.',
    '3. One policy governs every route of this state directory. A global revoke',
    '   (`sallyport policy revoke`) stops both this route and the gateway route.',
    '4. The request bound is a local hold in your own ledger, taken before contact. It is not a',
    '   maximum that the provider enforces: the real charge may be higher, and then it stands.',
    '5. A question that was sent is never sent again, and what was sent cannot be called back.',
    '',
  ].join('\n')
  return { version: alphaConsentVersion, text, sha256: sha256Hex(text) }
}

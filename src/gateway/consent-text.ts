/**
 * The exact texts that an operator consents to. A consent keeps the digest of its text, and the
 * text names the slot's model and upstreams: once a slot says something else, the digest differs
 * and the consent is to something that no longer exists.
 */
import { sha256Hex } from '../base/canonical.js'
import { egressPurpose, slotOfPurpose, type GatewayPurpose } from './constants.js'
import type { GatewayRoute, SlotSetup } from './setup.js'

/** Version of the wording; a change of one word is a new version. */
const gatewayConsentVersion = 'gateway.consent.v1'

/** What an operator acknowledges, with the digest that the consent row keeps. */
export interface GatewayStatement {
  readonly purpose: string
  readonly text: string
  /** SHA-256 of the text's UTF-8 bytes, lowercase hex. */
  readonly sha256: string
}

const statement = (purpose: string, lines: readonly string[]): GatewayStatement => {
  const text = [`Consent to ${purpose} (${gatewayConsentVersion})`, '', ...lines, ''].join('\n')
  return { purpose, text, sha256: sha256Hex(text) }
}

/** The acknowledgment that what is sent through this route leaves the machine. */
export const egressStatement = (route: Pick<GatewayRoute, 'api_base'>): GatewayStatement =>
  statement(egressPurpose, [
    `1. Content is sent in plaintext to the gateway at ${route.api_base}, which passes it on to`,
    '   the upstream hosts on the allow-list of the slot. Both can read it.',
    '2. The connection is ordinary verified TLS. Nothing is claimed about the other end: no',
    '   attestation, no end-to-end encryption. No fallback, no data collection and zero data',
    '   retention are asked for in every request; nobody can prove here that they are kept.',
    '3. One policy governs every route of this state directory. A global revoke',
    '   (`sallyport policy revoke`) stops both this route and the text capability.',
    '4. The request bound is a local hold in your own ledger, taken before contact. It is not a',
    '   maximum that the gateway enforces: the real charge may be higher, and then it stands.',
  ])

/** What each purpose sends, in words. */
export const purposeContents: Readonly<Record<GatewayPurpose, string>> = {
  'gateway.chat': 'the text of chat requests',
  'gateway.report': 'stored analyses and the text of report requests',
  'gateway.digest': 'stored analyses of screenshots, to be digested',
  'gateway.vision': 'the pixels of screenshots, to be analysed',
}

/** The consent to one purpose through one slot as it is set up. */
export const purposeStatement = (purpose: GatewayPurpose, slot: SlotSetup): GatewayStatement =>
  statement(purpose, [
    `Through the ${slotOfPurpose[purpose]} slot is sent: ${purposeContents[purpose]}.`,
    `Model: ${slot.model}`,
    `Upstream hosts: ${slot.upstream_allow.join(', ')}`,
  ])

/**
 * The allowlists of the general gateway route: which texts may select a model, and which
 * credential a general route may read. Both are closed forms, so that nothing an operator adds to
 * a list can make it reach the text capability.
 */
import { fail, type SallyportError } from '../base/errors.js'

/** Names that belong to the text capability alone. */
export interface ReservedNames {
  readonly capability: string
  readonly profile: string
  readonly runtime: string
  readonly credentialRef: string
  /** The fixed model of the sealed deployment profile. */
  readonly model: string
}

/** A parsed general selector. */
interface GatewaySelector {
  readonly text: string
  readonly provider: string
  /** May hold further words after a colon, never a slash. */
  readonly model: string
  /** `<provider>/<model>`: what the gateway is asked for. */
  readonly wireModel: string
}

const selectorCharsMax = 200
const selectorForm = /^gateway\/([A-Za-z0-9][A-Za-z0-9._-]*)\/([A-Za-z0-9][A-Za-z0-9._:@+-]*)$/
const credentialForm = /^vault:gateway_[a-z0-9][a-z0-9_]*$/

const refused = (why: string): SallyportError =>
  fail.rejected('selector_refused', `A general model selector ${why}.`, {
    next: 'Name a model as gateway/<provider>/<model>.',
  })

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/**
 * Parses a default or general model selector: exactly `gateway/<provider>/<model>`. Throws
 * `rejected` `selector_refused`; a selector that names the text capability's profile, runtime,
 * model or credential is refused in the gateway form as well.
 */
export const parseGatewaySelector = (text: string, reserved: ReservedNames): GatewaySelector => {
  const names = [
    reserved.capability, reserved.profile, reserved.runtime, reserved.credentialRef,
    reserved.model,
  ]
  if (text.length > selectorCharsMax) throw refused(`has at most ${selectorCharsMax} characters`)
  const [, provider, model] = selectorForm.exec(text) ?? []
  if (provider === undefined || model === undefined) {
    throw refused('must have the form gateway/<provider>/<model>')
  }
  const wireModel = `${provider}/${model}`
  const parts = [provider, model, wireModel]
  if (names.some((name) => parts.some((part) => same(part, name)))) {
    throw refused('must not name the text capability')
  }
  return { text, provider, model, wireModel }
}

/**
 * Refuses any credential name that is not a gateway's own (`vault:gateway_…`). Throws `rejected`
 * `credential_refused`.
 */
export const requireGatewayCredential = (ref: string, reserved: ReservedNames): string => {
  if (credentialForm.test(ref) && !same(ref, reserved.credentialRef)) return ref
  throw fail.rejected(
    'credential_refused', 'A general route reads only credentials named vault:gateway_….',
  )
}

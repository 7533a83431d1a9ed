/** The profile file that `init --profile` reads: checked once, then sealed. */
import * as v from 'valibot'
import ipaddr from 'ipaddr.js'
import { fail } from '../base/errors.js'
import { parseClosed } from '../base/schema.js'
import { parseStrictJson } from '../base/strict-json.js'
import { profileName, providerShape, type DeploymentProfile } from './profile.js'

/** Most bytes of a profile file. */
export const profileBytesMax = 16_384
/** Most bytes of a CA file. */
export const caBytesMax = 65_536

const fileShape = v.strictObject({
  schema: v.literal('sallyport.profile.v1'),
  name: profileName,
  provider: providerShape,
  gateway: v.optional(v.strictObject({ base_url: v.string() })),
  codehost: v.optional(v.strictObject({ base_url: v.string() })),
  ca_file: v.optional(v.string()),
})

const wrong = (field: string, rule: string): Error =>
  fail.rejected('profile_invalid', `The profile's ${field} ${rule}.`, {
    next: 'Correct the profile file and run init again.',
  })

const isLoopbackHost = (host: string): boolean => {
  const bare = host.replace(/^\[|\]$/g, '')
  if (bare === 'localhost') return true
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback'
}

/** `pathPrefix` is the one path that a base may have. */
const checkBase = (field: string, text: string, pathPrefix: string): boolean => {
  if (!URL.canParse(text)) throw wrong(field, 'is not an absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:') throw wrong(field, 'must begin with https:')
  if (url.username || url.password || url.search || url.hash) {
    throw wrong(field, 'must not have user information, a query or a fragment')
  }
  if (url.pathname !== pathPrefix) {
    throw wrong(field, `must have the path ${pathPrefix} and nothing after it`)
  }
  // The text itself is compared and printed later: it must be the canonical form.
  const canonical = pathPrefix === '/' ? url.origin : url.origin + pathPrefix
  if (text !== canonical) throw wrong(field, 'must be written in its canonical form')
  return isLoopbackHost(url.hostname)
}

/** Parses a profile file's bytes; `readCa` gives the bytes of its `ca_file`. */
export const parseProfile = (
  bytes: Uint8Array, workspace: string, readCa: (path: string) => Uint8Array,
): DeploymentProfile => {
  const file = parseClosed(
    fileShape, parseStrictJson(bytes, { bytesMax: profileBytesMax, depthMax: 4 }),
    { code: 'profile_invalid', what: 'profile' },
  )
  // One slash at its end means the same place: requests go to `{base}/chat/completions` (S-191).
  const gatewayBase = file.gateway?.base_url.replace(/\/$/, '') ?? null
  const loopback = [
    checkBase('provider.base_url', file.provider.base_url, '/v1'),
    ...(gatewayBase === null ? [] : [checkBase('gateway.base_url', gatewayBase, '/api/v1')]),
    ...(file.codehost ? [checkBase('codehost.base_url', file.codehost.base_url, '/')] : []),
  ].every(Boolean)
  if (file.ca_file !== undefined && !loopback) {
    throw wrong('ca_file', 'is accepted only where every host is loopback')
  }
  return {
    schema: file.schema,
    name: file.name,
    provider: file.provider,
    gateway: gatewayBase === null ? null : { base_url: gatewayBase },
    codehost: file.codehost ?? null,
    ca_pem: file.ca_file === undefined ? null : checkPem(readCa(file.ca_file)),
    loopback,
    workspace,
  }
}

const checkPem = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes).toString('latin1')
  if (bytes.byteLength > caBytesMax || !/^-----BEGIN CERTIFICATE-----$/m.test(text)) {
    throw wrong('ca_file', `must be a PEM certificate of at most ${caBytesMax} bytes`)
  }
  return text
}

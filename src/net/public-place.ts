/**
 * A place by which machines elsewhere reach the service of this one: a host and a port that
 * somebody forwards to it. Every rule that a text breaks has a name, and none quotes the text.
 */
import { isIP } from 'node:net'
import * as v from 'valibot'
import { mayDial } from './addresses.js'

const rules = {
  form: 'must be HOST:PORT, with no scheme, user, path or space, and IPv6 in brackets',
  port: 'must have a port from 1 to 65535, without leading zeros',
  coded: 'must have an international name as DNS has it, with xn--',
  host: 'must have a name of letters, digits and hyphens, or an address, and no dot at its end',
  address: 'must have an address that one machine has: no group, no link-local, no example',
} as const
type Rule = typeof rules[keyof typeof rules]

/** One host and what follows its last colon; brackets hold what has colons itself. */
const form = /^(\[[^\[\]\s/?#@\\]*\]|[^\[\]:\s/?#@\\]+):([^:\s/?#@\\]+)$/
const portForm = /^[1-9]\d{0,4}$/
const portMax = 65_535
const labelForm = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/
const nameCharsMax = 253

/** Whether a host of a URL is a name as DNS has it, and no spelling of an address. */
export const isHostName = (host: string): boolean => {
  const labels = host.split('.')
  return host.length <= nameCharsMax && labels.every((label) => labelForm.test(label))
    && !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')
}

/** What a URL makes of a host; null for what it cannot hold, as a zone or what only looks coded. */
const inUrl = (host: string): string | null =>
  (URL.canParse(`https://${host}`) ? new URL(`https://${host}`).hostname : null)

const hostRule = (host: string): Rule | null => {
  if (/[^\x21-\x7e]/.test(host)) return rules.coded
  const [bare, wanted] = host.startsWith('[') ? [host.slice(1, -1), 6] : [host, 4]
  const name = host.toLowerCase()
  const known = inUrl(host)
  if (isIP(bare) === wanted && known !== null) return mayDial(bare, 'near') ? null : rules.address
  return isIP(bare) === 0 && isHostName(name) && known === name ? null : rules.host
}

/** The first rule that a text breaks; null for a place. */
const brokenBy = (text: string): Rule | null => {
  const [, host = '', port = ''] = form.exec(text) ?? []
  if (host === '') return rules.form
  if (!portForm.test(port) || Number(port) > portMax) return rules.port
  return hostRule(host)
}

const obeys = (rule: Rule) => v.check((text: string) => brokenBy(text) !== rule, rule)

/** A place as it is given: HOST:PORT. */
export const publicPlaceShape = v.pipe(
  v.string(), obeys(rules.form), obeys(rules.port), obeys(rules.coded), obeys(rules.host),
  obeys(rules.address),
)

/** A place that obeys every rule. */
export interface PublicPlace {
  /** `https://HOST:PORT`, as a URL has it: without the port where that is 443. */
  readonly origin: string
  /** `Host` values that name it. */
  readonly hosts: readonly string[]
}

/** What a text that has the shape stands for. */
export const publicPlaceOf = (text: string): PublicPlace => {
  const { origin, host, hostname, port } = new URL(`https://${text}`)
  return { origin, hosts: port === '' ? [host, `${hostname}:443`] : [host] }
}

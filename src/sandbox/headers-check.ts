import type { SeenRequest } from './types.js'

/** Largest request that Sallyport may send to a service, in bytes. */
interface RequestRules {
  readonly bodyBytesMax: number
  readonly port: number
}

const valuesOf = (request: SeenRequest, name: string): readonly string[] =>
  request.headers.get(name) ?? []

/** Headers that would carry a browser's state, a proxy's trace or a second address. */
export const unwanted = [
  'cookie',
  'forwarded',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'transfer-encoding',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
]

/** Texts that `host` may have on a port of loopback. */
export const hostsOf = (port: number): readonly string[] => [
  `127.0.0.1:${port}`,
  `[::1]:${port}`,
  `localhost:${port}`,
]

export const bearerOf = (request: SeenRequest): string | null => {
  const values = valuesOf(request, 'authorization')
  const match = values.length === 1 ? /^Bearer ([^\s]+)$/.exec(values[0] ?? '') : null
  return match?.[1] ?? null
}

/** Notes what the headers and the size of a POST do that Sallyport's promises do not allow. */
export const checkHeaders = (request: SeenRequest, rules: RequestRules): void => {
  const bad = (text: string): void => void request.violations.push(text)
  const one = (name: string): string | undefined => {
    const values = valuesOf(request, name)
    if (values.length > 1) bad(`header ${name} is repeated`)
    return values[0]
  }
  if (!(one('content-type') ?? '').startsWith('application/json')) {
    bad('content-type is not application/json')
  }
  if ((one('accept-encoding') ?? 'identity') !== 'identity') bad('an encoding is asked for')
  if (one('content-length') !== String(request.body.length)) bad('content-length is not exact')
  if (!hostsOf(rules.port).includes(one('host') ?? '')) bad('host is not this service')
  for (const name of unwanted) if (valuesOf(request, name).length > 0) bad(`header ${name} is sent`)
  if (bearerOf(request) === null) bad('no single bearer key')
  if (request.body.length > rules.bodyBytesMax) bad('the body is over its limit')
}

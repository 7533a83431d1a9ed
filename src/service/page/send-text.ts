/** Answers of the page that are no JSON, under a policy that lets nothing in from elsewhere. */
import { commonHeaders, endTaken } from '../http/send.js'
import type { Exchange } from '../service.js'

const own = "'self'"
const shut = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** What a document of the page may do. */
export const policies = {
  /** Its own script, style, icon and requests; no inline script, no frame, no form. */
  page: `default-src 'none'; script-src ${own}; style-src ${own}; img-src ${own}; `
    + `connect-src ${own}; ${shut}; require-trusted-types-for 'script'; trusted-types 'none'`,
  /** A report has its style in itself and nothing else. */
  report: `default-src 'none'; style-src 'unsafe-inline'; ${shut}; sandbox`,
  /** What is no document. */
  part: "default-src 'none'; frame-ancestors 'none'",
} as const

export const sendText = (
  { request, response, requestId }: Exchange,
  { status = 200, type, text, policy }: {
    readonly status?: number
    readonly type: string
    readonly text: string
    readonly policy: keyof typeof policies
  },
): void => {
  const bytes = Buffer.from(text)
  response.writeHead(status, {
    ...commonHeaders(requestId),
    'Content-Security-Policy': policies[policy],
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
    ...(request.complete || request.readableEnded ? {} : { Connection: 'close' }),
    'Content-Type': `${type}; charset=utf-8`, 'Content-Length': String(bytes.length),
  })
  endTaken(response, bytes)
}

/** What every request to the code host carries, besides its path. */
import { restVersion } from '../constants.js'

/** The headers of a read. Nothing conditional: a 304 has no body to judge. */
export const readHeaders = (token: Uint8Array): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${Buffer.from(token).toString('latin1')}`,
  accept: 'application/vnd.github+json',
  'x-github-api-version': restVersion,
  'user-agent': 'sallyport',
})

/** The headers of a creation; the client itself says how long its body is. */
export const writeHeaders = (token: Uint8Array): Readonly<Record<string, string>> =>
  ({ ...readHeaders(token), 'content-type': 'application/json; charset=utf-8' })

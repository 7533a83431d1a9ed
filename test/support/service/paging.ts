/** Requests to the page of a service, as a browser's or as anybody's, over its plain listener. */
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import type { Asking, Got, Serving } from './serving.js'

/** One request to where the page listens. */
export const askPage = (
  { started }: Pick<Serving, 'started'>, method: string, path: string, asking: Asking = {},
): Promise<Got> => new Promise((resolve, reject) => {
  const { port } = new URL(started.page?.url ?? 'http://localhost:1')
  const { body: given, token } = asking
  const body = given === undefined ? null
    : Buffer.from(typeof given === 'string' ? given : JSON.stringify(given))
  const request = httpRequest({
    host: asking.host ?? '127.0.0.1', port, method, path, agent: false,
    headers: {
      ...(token === null || token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === null ? {} : {
        'Content-Type': 'application/json', 'Content-Length': String(body.length),
      }),
      ...asking.headers,
    },
  }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const bytes = Buffer.concat(chunks)
      resolve({
        status: response.statusCode ?? 0, headers: response.headers, bytes,
        json: () => JSON.parse(bytes.toString('utf8')),
      })
    })
  })
  request.on('error', reject)
  request.end(body ?? undefined)
})

/** The code that a file leads a browser with. */
export const codeIn = (path: string): string =>
  /#([A-Za-z0-9_-]{22})"/.exec(readFileSync(path, 'utf8'))?.[1] ?? ''

/** Gives a run token for the code that the service was started with. */
export const openPage = async (at: Serving): Promise<string> => {
  const code = codeIn(at.started.offered?.openFile ?? '')
  const got = await askPage(at, 'POST', '/api/page/open', { body: { code } })
  if (got.status !== 201) throw new Error(got.bytes.toString())
  return String(got.json().token)
}

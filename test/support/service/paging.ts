/** Requests to the page of a service, as a browser's or as anybody's, over its plain listener. */
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { askBy, type Asking, type Got, type Serving } from './serving.js'

/** One request to where the page listens. */
export const askPage = (
  { started }: Pick<Serving, 'started'>, method: string, path: string, asking: Asking = {},
): Promise<Got> => {
  const { port } = new URL(started.page?.url ?? 'http://localhost:1')
  return askBy(httpRequest, { port, method, path }, asking)
}

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

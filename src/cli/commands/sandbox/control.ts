/** Talks to the control endpoint of a running sandbox, through the one HTTPS client. */
import type { GenericSchema, InferOutput } from 'valibot'
import { fail } from '../../../base/errors.js'
import { parseClosed } from '../../../base/schema.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import type { HttpsReply } from '../../../net/types.js'
import type { VerbDeps } from '../../verb.js'
import { refusalShape } from '../../../sandbox/sandbox-contract.js'
import { sandboxCommand, sandboxDir } from './dir.js'

const timeoutMs = 5_000
const requestBytesMax = 16 * 1024
const replyBytesMax = 1024 * 1024
const depthMax = 8

/** One request to the control endpoint. */
export interface ControlRequest {
  readonly method: 'GET' | 'POST'
  readonly path: '/status' | '/faults' | '/faults/clear' | '/stop'
  readonly body?: Readonly<Record<string, unknown>>
}

const notRunning = (deps: VerbDeps, dir: string) =>
  fail.notFound('sandbox_not_running', 'No sandbox runs in that folder.', {
    next: `Start one with \`${sandboxCommand(deps, dir, 'start --background')}\`.`,
    details: { dir },
  })

const send = async (deps: VerbDeps, dir: string, request: ControlRequest): Promise<HttpsReply> => {
  const [{ createHttpsClient }, { readFolder }] = await Promise.all([
    import('../../../net/client.js'), import('../../../sandbox/folder.js'),
  ])
  const folder = await readFolder(dir)
  if (folder === null || folder.ports.control === 0) throw notRunning(deps, dir)
  const client = createHttpsClient({
    clock: deps.clock,
    env: deps.env,
    execArgv: deps.execArgv,
    resolve: deps.resolve,
    ca: [folder.caPem],
    loopbackOnly: true,
  })
  const body = request.method === 'GET' ? null : Buffer.from(JSON.stringify(request.body ?? {}))
  try {
    return await client.request({
      method: request.method,
      url: `https://127.0.0.1:${folder.ports.control}${request.path}`,
      headers: { authorization: `Bearer ${folder.token}`, 'content-type': 'application/json' },
      ...(body === null ? {} : { body }),
      requestBytesMax,
      replyBytesMax,
      timeoutMs,
      signal: deps.stop,
      // A control request spends nothing and reaches nobody outside: there is nothing to ask.
      authority: () => undefined,
      markContact: () => undefined,
    })
  } catch (error) {
    // Another program may have the port by now; its certificate then is not this folder's.
    if (isCode(error, 'connect_failed') || isCode(error, 'tls_failed')) throw notRunning(deps, dir)
    throw error
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/**
 * Sends one request and reads its reply. Throws `not_found` `sandbox_not_running`, `rejected` with
 * the sandbox's own reason, and `remote` for a reply that is neither.
 */
export const askControl = async <S extends GenericSchema>(
  deps: VerbDeps, givenDir: string | undefined, request: ControlRequest, schema: S,
): Promise<InferOutput<S>> => {
  const reply = await send(deps, sandboxDir(deps, givenDir), request)
  const json = parseStrictJson(reply.body, { bytesMax: replyBytesMax, depthMax })
  const about = { code: 'sandbox_reply', what: 'the reply of the sandbox' }
  if (reply.status === 200) return parseClosed(schema, json, about)
  if (reply.status !== 422) {
    throw fail.remote('sandbox_refused', 'The sandbox refused the control request.', {
      next: 'Stop it and start it again: its token and its folder do not fit.',
      details: { status: reply.status },
    })
  }
  const { code, message, next } = parseClosed(refusalShape, json, about)
  throw fail.rejected(code, message, next === null ? {} : { next })
}

/** Asks the service that runs for a way into its page, as the session in use, over its own key. */
import * as v from 'valibot'
import { fail, SallyportError } from '../../../base/errors.js'
import { findService, identityOf } from '../../../governance/service/identity.js'
import { createPinnedClient } from '../../../net/client.js'
import { ContactError } from '../../../net/contact-error.js'
import { parseReply } from '../../../net/reply.js'
import type { HttpsReply } from '../../../net/types.js'
import { certificateFileOf } from '../../../service/material.js'
import { pageOffer } from '../../../service/page/page-contract.js'
import { serve } from '../../../service/start.js'
import type { VerbDeps } from '../../verb.js'
import { currentToken } from '../../login.js'

const replyBytesMax = 65_536
const timeoutMs = 10_000
const errorShape = v.object({ error: v.object({ code: v.string() }) })

const documentOf = ({ body }: HttpsReply): unknown =>
  parseReply(body, { bytesMax: replyBytesMax, depthMax: 8 })

const codeOf = (reply: HttpsReply): string | null => {
  const parsed = v.safeParse(errorShape, documentOf(reply))
  return parsed.success ? parsed.output.error.code : null
}

const askFor = async (deps: VerbDeps, origin: string, pin: string): Promise<HttpsReply> => {
  const { gov } = await deps.login('read')
  const client = createPinnedClient({
    clock: deps.clock, env: deps.env, execArgv: deps.execArgv, resolve: deps.resolve, origin, pin,
  })
  return client.request({
    method: 'POST', url: `${origin}/api/page/offers`,
    headers: { authorization: `Bearer ${currentToken(gov, deps.env) ?? ''}` },
    requestBytesMax: 0, replyBytesMax, timeoutMs, signal: deps.stop,
    authority: () => undefined, markContact: () => undefined,
  })
}

/** To ask it once more is what was just done. */
const silent = ({ kind, code, message, details }: SallyportError): SallyportError =>
  new SallyportError({
    kind, code, message, details,
    next: 'It offers no page now, as while it starts or stops. Try again in a moment.',
  })

/**
 * What the running service offers, in the words of `serve`. Throws `blocked` `page_not_served`, and
 * `running` where the one that runs does not answer, or with no page.
 */
export const askForPage = async (
  deps: VerbDeps, running: SallyportError,
): Promise<ReturnType<typeof serve.answer>> => {
  const { store } = await deps.gov('read')
  const row = findService(store, store.read())
  // The first one of this state is still choosing its port.
  if (row === undefined) throw silent(running)
  const identity = identityOf(row)
  const reply = await askFor(deps, identity.origin, identity.pin).catch((error: unknown) => {
    throw error instanceof ContactError ? silent(running) : error
  })
  if (reply.status === 201) {
    const { url, open_file, pid } = v.parse(pageOffer.output, documentOf(reply)) as
      ReturnType<typeof pageOffer.document>
    return serve.answer({
      identity, certificateFile: certificateFileOf(deps.places.stateDir), pid,
      portChanged: false, publicPortChanged: false, page: { url, openFile: open_file },
    })
  }
  if (codeOf(reply) !== 'page_not_served') throw silent(running)
  throw fail.blocked('page_not_served', 'The service runs without a page.', {
    next: 'Stop it, and start it again with `sallyport serve --page`.',
  })
}

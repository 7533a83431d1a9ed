/**
 * Sending one picture to the page. A thread reads and hashes it; the very bytes that were hashed
 * are those that go out, and they lie in memory alone, until they are taken or their time is over.
 */
import { requireSound } from '../../governance/anchored.js'
import { requireDefaultPrincipal } from '../../governance/principals.js'
import { authenticateRoot } from '../../governance/session/authenticate.js'
import { pictureOwner, type Picture } from '../../shots/picture/picture.js'
import { bearerOf } from '../http/raw-check.js'
import { commonHeaders, endTaken } from '../http/send.js'
import { checkedQuery } from '../query.js'
import { keyOf } from '../route.js'
import { govOf, type Endpoint, type Exchange, type Site } from '../service.js'
import type { PageDesk } from './desk.js'
import type { HeldPicture } from './picture-quota.js'
import { pictureRoute } from './routes.js'

/** Asked before anything is counted: nobody else uses up what the owner may look at. */
const requireOwner = ({ held, world }: Site, root: string): Promise<void> =>
  held.use((store) => {
    const view = requireSound(store)
    const session = authenticateRoot(govOf(store, world), root, {}, view)
    requireDefaultPrincipal(view, session, pictureOwner)
  })

const sendPicture = (
  { response, requestId }: Exchange, { bytes, mime }: Picture, held: HeldPicture,
): void => {
  held.has(bytes.length)
  response.once('close', held.end)
  response.writeHead(200, {
    ...commonHeaders(requestId),
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
    'Content-Disposition': 'attachment',
    'Content-Type': mime, 'Content-Length': String(bytes.length),
  })
  endTaken(response, bytes)
}

/** The picture of one observation, to the page of the default owner's session. */
export const picture = (desk: PageDesk): Endpoint => ({
  method: 'GET', path: pictureRoute.path, described: pictureRoute,
  answer: async (exchange, site) => {
    const { request, response, params } = exchange
    const root = desk.keys.rootOf(bearerOf(request))
    await requireOwner(site, root)
    const query = checkedQuery(pictureRoute, exchange.query)
    const held = desk.pictures.begin(site.world.clock.monotonicMs())
    const asked = { params, query, body: new Uint8Array(), waitMs: 0 }
    let isSent = false
    try {
      // A person looks at it: that is a use of the session.
      const reply = await site.threads.perform(keyOf(pictureRoute), { root, isUse: true }, asked)
      if (reply.status !== 200) return reply
      if (response.destroyed) return null
      isSent = true
      sendPicture(exchange, reply.body as Picture, held)
      return null
    } finally {
      if (!isSent) held.end()
    }
  },
})

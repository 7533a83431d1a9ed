/** Routes that the page alone has: no token of a session and no credential of a device asks them. */
import { shotsContext } from '../../fabric/contexts/shots.js'
import { shotsShow } from '../../shots/observations/contract.js'
import { openPicture } from '../../shots/picture/picture.js'
import { route } from '../route-of.js'
import type { Route } from '../route.js'

/** The picture of one observation; what it gives is `Picture`, and no document. */
export const pictureRoute: Route = route(
  shotsShow, 'GET /api/shots/observations/{observation_id}/picture',
  'The picture of one observation, read from the folder as it lies there.', {
    // It changes nothing, so that nothing of it is ever written.
    mode: 'read', where: 'thread', verb: null,
    run: async ({ gov, session, world, asked }) =>
      openPicture(shotsContext(world, gov), session, asked.params['observation_id'] ?? ''),
  })

/** All of them. */
export const pageRoutes: readonly Route[] = [pictureRoute]

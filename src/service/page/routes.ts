/**
 * Routes that the page alone has: no token of a session and no credential of a device asks them.
 */
import { shotsContext } from '../../fabric/contexts/shots.js'
import { shotsShow } from '../../shots/observations/observations-contract.js'
import { openPicture } from '../../shots/picture/picture.js'
import { pageDay } from '../../shots/told-day/told-day-contract.js'
import { readToldDay } from '../../shots/told-day/read-day.js'
import { requestOfQuery } from '../query.js'
import { route } from '../route-of.js'
import type { QueryField, Route } from '../route.js'

const dayFields: readonly QueryField[] =
  [{ name: 'day', what: 'The day, as 2026-11-27; left out: today.', kind: 'text' }]

/** One day, as its owner spent it. */
export const dayRoute: Route = route(
  pageDay, 'GET /api/page/day', 'One day: time, episodes and the ids of their pictures.', {
    mode: 'read', where: 'thread', verb: null, query: dayFields,
    run: async ({ gov, session, world, asked }) => {
      const { day } = pageDay.request(requestOfQuery(asked, dayFields))
      return pageDay.answer(readToldDay(shotsContext(world, gov), session, day))
    },
  })

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
export const pageRoutes: readonly Route[] = [dayRoute, pictureRoute]

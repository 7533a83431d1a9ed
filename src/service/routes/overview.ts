/** What an operator has to know first, over HTTP. */
import { operation } from '../../fabric/operation.js'
import { overviewShow } from '../../fabric/overview/overview-contract.js'
import { readOverview } from '../../fabric/overview/overview.js'
import type { Route } from '../route.js'
import { routeOf } from '../route-of.js'

/** The routes. */
export const overviewRoutes: readonly Route[] = [
  routeOf(operation(overviewShow, 'see', ({ gov, session, world }) =>
    readOverview(gov, session, world)), 'GET /api/overview',
  'What waits for a person, what is new, what it cost, what is allowed, who sends.', {
    verb: null, where: 'thread',
  }),
]

/** Every route that the service offers to operators. */
import type { Route } from '../route.js'
import { alphaRoutes } from './alpha.js'
import { bookRoutes } from './books.js'
import { codehostRoutes } from './codehost.js'
import { edgeRoutes } from './edge.js'
import { overviewRoutes } from './overview.js'
import { shotsRoutes } from './shots.js'
import { taskRoutes } from './tasks.js'

/** In the order in which the description lists them. */
export const routes: readonly Route[] = [
  ...overviewRoutes, ...alphaRoutes, ...taskRoutes, ...shotsRoutes,
  ...codehostRoutes, ...edgeRoutes, ...bookRoutes,
]

/** Every operation that the service offers to operators. */
import type { Operation } from '../operation.js'
import { alphaOperations } from './alpha.js'
import { bookOperations } from './books.js'
import { codehostOperations } from './codehost.js'
import { edgeOperations } from './edge.js'
import { overviewOperations } from './overview.js'
import { shotsOperations } from './shots.js'
import { taskOperations } from './tasks.js'

/** In the order in which the description lists them. */
export const operations: readonly Operation[] = [
  ...overviewOperations, ...alphaOperations, ...taskOperations, ...shotsOperations,
  ...codehostOperations, ...edgeOperations, ...bookOperations,
]

/** One operation over an open store: the operator behind the token, then the use case. */
import { openWork, type WorkPlace } from '../fabric/open-work.js'
import type { World } from '../fabric/world.js'
import type { Store } from '../state/types.js'
import { asWorkOrder, type Asker } from './asker.js'
import type { Asked, Operation } from './operation.js'
import { replyOf, replyOfThrown, type Reply } from './reply.js'

/** A last use of a session is noted at most so often: each request would write a file otherwise. */
export const touchEveryMs = 30_000

/** What a request is performed with. */
interface Performing {
  readonly world: World
  readonly place: WorkPlace
  readonly store: Store
  readonly by: Asker
  readonly asked: Asked
  goOn(work: Promise<unknown>): void
}

/** Performs it; never throws. Who asks is looked up again: the body may have taken its time. */
export const perform = async (operation: Operation, order: Performing): Promise<Reply> => {
  const { world, place, store, by, asked } = order
  try {
    const { gov, session } = await openWork({
      ...place, store, face: 'service', mode: operation.mode, touchEveryMs,
      ...asWorkOrder(by),
    })
    const result = await operation.run({
      gov, session, world, asked, goOn: (work) => order.goOn(work),
    })
    return replyOf(operation, result, asked)
  } catch (thrown) {
    return replyOfThrown(thrown)
  }
}

/** One route over an open store: the operator behind the token, then the operation. */
import { openWork, type WorkPlace } from '../fabric/open-work.js'
import type { World } from '../fabric/world.js'
import type { Store } from '../state/types.js'
import { asWorkOrder, type Asker } from './asker.js'
import type { Asked, Route } from './route.js'
import { replyOf, replyOfThrown, type Reply } from './reply.js'

/** A last use of a session is noted at most so often: each request would write a file otherwise. */
export const touchEveryMs = 30_000

interface Performing {
  readonly world: World
  readonly place: WorkPlace
  readonly store: Store
  readonly by: Asker
  readonly asked: Asked
  goOn(work: Promise<unknown>): void
}

/** Performs it; never throws. Who asks is looked up again: the body may have taken its time. */
export const perform = async (route: Route, order: Performing): Promise<Reply> => {
  const { world, place, store, by, asked } = order
  try {
    const { gov, session } = await openWork({
      ...place, store, face: 'service', mode: route.mode, anchor: route.anchor, touchEveryMs,
      ...asWorkOrder(by),
    })
    let next = null as string | null
    const result = await route.run({
      gov, session, world, asked, goOn: (work) => order.goOn(work),
      cut: ({ field, value }) => (next = nextPath(route, asked, { [field]: value })),
      async stopped(recorded) {
        const { recoverState } = await import('../fabric/recovery.js')
        if (recorded === null || recorded.why === null) await recoverState(gov)
      },
    })
    return replyOf(route, result, { asked, next })
  } catch (thrown) {
    return replyOfThrown(thrown)
  }
}

/** The path of a list that goes on elsewhere. */
const nextPath = (
  { path }: Route, { query }: Asked, on: Readonly<Record<string, string>>,
): string => `${path}?${new URLSearchParams({ ...query, ...on }).toString()}`

/**
 * What a request passes on its way out: the fence of its operation, and the stops that cover it.
 * Only what rests on authority has one: reading back a charge that is owed is ended by nobody.
 */
import type { SendFence } from '../state/holds/holds.js'
import { pendingStops } from '../governance/stops/pending.js'
import { recordedSince, stopsRecorded } from '../governance/stops/recent.js'
import { covers, offRoutes, stoppedError, type Aim, type Party } from '../governance/stops/stop.js'
import type { WireFence } from '../net/types.js'
import type { FreshView, View } from '../state/types.js'
import { announce, type Sending } from './operation.js'

const partyOf = <C>({ order, run, taskId }: Sending<C>, view: View): Party =>
  // Whatever goes through a connection, a route or a slot says so: it rests on what is saved of it.
  ({ task: taskId, connection: null, ...offRoutes, ...order.party?.(run, view) })

const isCovered = <C>(op: Sending<C>, view: View, aim: Aim): boolean =>
  covers(aim, partyOf(op, view), op.order.covered)

/**
 * A view of now in which no stop covers the operation. The folder is looked at first: a stop leaves
 * it only once the record that it became can be read. Throws `unauthorized`.
 */
export const unstoppedView = async <C>(op: Sending<C>): Promise<FreshView> => {
  const { store } = op.ctx.gov
  const lying = store.stops.lying()
  const view = await store.fresh(op.fence)
  requireUnstopped(op, view, lying)
  // What lies at a place is known by the look that brought the view.
  if (store.machine !== null) requireUnstopped(op, view)
  return view
}

/** The same for a view at hand, under the lock of the state: nothing is recorded meanwhile. */
export const requireUnstopped = <C>(
  op: Sending<C>, view: View, lying = op.ctx.gov.store.stops.lying(),
): void => {
  const stop = pendingStops(lying, view).find((one) => isCovered(op, view, one))
  if (stop !== undefined) throw stoppedError(stop)
}

const fenceFileOf = <C>(op: Sending<C>): SendFence => {
  const { store } = op.ctx.gov
  const {
    principal, root, connection = null, givers, provider, slot, purpose, folder, device,
  } = partyOf(op, store.read())
  op.fence ??= store.holds.fence({
    operation: op.run.operationId, task: op.taskId, principal: principal ?? null,
    // Not known is not none: a stop of any session may be meant for it, and has to wait for it.
    ...(root === undefined ? {} : { root }), connection, pid: process.pid,
    ...(givers === undefined ? {} : { givers: [...givers] }), provider, slot, purpose, folder,
    ...(device === undefined ? {} : { device }),
  }, op.held)
  return op.fence
}

/** The fence of one request of the operation. */
export const wireFenceOf = <C>(op: Sending<C>): WireFence => {
  const fence = fenceFileOf(op)
  /** How many stops had been recorded when the request began to leave. */
  let known: number | null = null
  return {
    async take(first, signal) {
      // Whoever watches may take long, and nobody waits for a fence that long.
      if (first) await announce(op, 'before_first_byte')
      await fence.take(signal)
    },
    async look() {
      const view = await unstoppedView(op)
      known ??= stopsRecorded(view)
      const since = recordedSince(view, known)
      if (since === 'too_many') throw stoppedError({ kind: 'all', target: null })
      const stop = since.find((aim) => isCovered(op, view, aim))
      if (stop !== undefined) throw stoppedError(stop)
    },
    note(sent) {
      try {
        fence.note(sent)
      } catch (error) {
        // All of it has left: a fence that still says `begun` says no less than that.
        if (sent === 'begun') throw error
      }
    },
    give: () => fence.give(),
  }
}

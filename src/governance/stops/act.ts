/**
 * Stopping: the stop is made durable, which puts it in force; then whatever may be on its way is
 * looked for; then the stop is recorded, as far as the state takes a record. What cannot be
 * recorded now is in force all the same, and whoever writes next records it.
 */
import { isoFromMs, type Clock } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { Stop } from '../../state/stop-board.js'
import { requireSound } from '../anchored.js'
import type { Gov, Session } from '../context.js'
import { collections, type RecordedStop } from '../rows.js'
import type { FenceFacts, Reached } from '../../state/holds/fence.js'
import type { FenceWatch, Holds } from '../../state/holds/holds.js'
import { requireInReach, requireSeen } from './in-reach.js'
import { recordStops } from './record.js'
import { covers, type Aim, type Party } from './stop.js'

/** Times of a stop, ms; tests lengthen them where an answer is expected of a busy machine. */
export const stopTimes = {
  /** How long a fence is tried for that somebody holds. */
  fenceWaitMs: 2_000,
}

/** Makes a stop; it is in force once its board has taken it. */
export const newStop = (clock: Clock, aim: Aim, by: Stop['by']): Stop =>
  ({ id: newId('stp'), kind: aim.kind, target: aim.target, by, at: isoFromMs(clock.wallMs()) })

/** Who asks, as a stop names it. */
export const askedThrough = (verb: string, session: Session): Stop['by'] => ({
  principal: session.principal.principal_id, root: session.root.root_id, verb,
})

/** Whose operation it is, as its fence says it. */
const partyOfFence = ({ principal, pid: _pid, sent: _sent, ...rest }: FenceFacts): Party =>
  ({ ...rest, principal: principal ?? undefined })

/** Finds what is on its way of everything that the stops cover, or was when `watched` began. */
export const reachCovered = (
  stops: readonly Aim[], watched: FenceWatch,
): Promise<Reached> => watched.reach((facts) => {
  const party = partyOfFence(facts)
  return stops.some((stop) => covers(stop, party))
}, stopTimes.fenceWaitMs)

/** The same. That nobody can look takes nothing from the stops; both are told. */
export const reachStopped = async (
  ...given: Parameters<typeof reachCovered>
): Promise<Reached> => {
  try {
    return await reachCovered(...given)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const { kind, code, details, next, message } = error
    throw new SallyportError({
      kind, code, details, cause: error, ...(next === null ? {} : { next }),
      message: `The stop is in force; what was leaving before it cannot be looked at. ${message}`,
    })
  }
}

/**
 * Puts stops into force by `put`, and finds what was on its way of everything that they cover. Of
 * what ended before there is nothing to put: a process that was silent then may be so still.
 */
export const putAndReach = async (
  holds: Holds, stops: readonly Aim[], put = (): Promise<void> => Promise.resolve(),
  reach = reachStopped,
): Promise<Reached> => {
  const watched = holds.watch()
  try {
    await put()
    return await reach(stops, watched)
  } finally {
    watched.close()
  }
}

/** How one stop came to be recorded. */
export interface StopRecord {
  /** Null where the state takes no record now. */
  readonly row: RecordedStop | null
  /** Why it does not. */
  readonly why: SallyportError | null
}

/** A stop that is in force: how it came to be recorded, and what it came too late for. */
export interface Recorded extends StopRecord {
  /** Requests of which something had left before; nothing more of them leaves. */
  readonly sent: readonly FenceFacts[]
}

/** Records what waits, this stop among it. Throws defects only. */
export const recordStop = async (gov: Gov, { id, by: { verb } }: Stop): Promise<StopRecord> => {
  const { store, clock } = gov
  try {
    const row = await store.transact(verb, (tx) => {
      // A store that was opened without `recordFirst` records here.
      const first = recordStops(store, clock)
      first?.write(tx)
      tx.afterSync(() => first?.done())
      return tx.get(collections.stops, id) ?? null
    }, { first: true })
    return { row, why: null }
  } catch (error) {
    if (error instanceof SallyportError) return { row: null, why: error }
    throw error
  }
}

/** The one sentence for a process that holds its fence and does not answer; null: ended before. */
export const underWayError = (
  facts: Reached['underWay'][number], stop: Stop | null,
): SallyportError => {
  const { pid, task, operation, elsewhere } = facts
  const what = task === null ? `operation ${operation}` : `task ${task}`
  const who = elsewhere === true ? `a process of another machine (${what})`
    : pid === 0 ? `a process (${what})` : `process ${pid} (${what})`
  return fail.locked(
    'contact_under_way',
    `Stopped for every other request; ${who} does not answer and may still send when it wakes.`,
    {
      next: `${pid === 0 ? 'Kill that process' : `Kill ${pid}`}, then run this again.${
        elsewhere === true ? ' A machine that is gone: `sallyport machine retire NAME`.' : ''}`,
      details: {
        ...(stop === null ? {} : { stop_id: stop.id }), operation_id: operation,
        ...(task === null ? {} : { task_id: task }),
        ...(pid === 0 ? {} : { pid }),
      },
    },
  )
}

/**
 * Throws `locked` `contact_under_way` where a process that may still send does not answer, and
 * `stop_out_of_reach` where nobody could look at what other machines were sending.
 */
export const requireAnswered = (reached: Reached, stop: Stop | null): void => {
  requireSeen(reached)
  const [silent] = reached.underWay
  if (silent !== undefined) throw underWayError(silent, stop)
}

/**
 * What stops something for one session needs a sound store: who asks is read from it. Everything
 * can be stopped without one.
 */
const otherStop = 'Everything at once is stopped by `sallyport policy revoke`, which needs no '
  + 'sound state. For the state itself run `sallyport state check`.'

/**
 * What is to be stopped. That there is nothing to stop, or nobody who may, is said over rows alone
 * that were followed: the others may be of yesterday, and a stop that is too many ends nothing.
 */
const decided = async (
  { store }: Gov, decide: () => StopOrder | null,
): Promise<StopOrder | null> => {
  try {
    const order = decide()
    if (order !== null && order.isDone !== true) return order
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
  }
  await store.fresh()
  return decide()
}

/** A stop that is in force. */
interface Stopped {
  readonly stop: Stop
  readonly recorded: Recorded
}

/** What one stop of a session is, once the store was found to be sound. */
interface StopOrder {
  readonly aim: Aim
  readonly by: Stop['by']
  /** It ended before: nothing is put or recorded, and who was silent then is looked for again. */
  readonly isDone?: boolean
}

/**
 * Stops what `decide` says, which is asked of a sound store and authenticates whoever asks; null
 * where nothing was to be stopped, or not any more. Throws what `decide` throws; `conflict` with
 * the code of a record that was refused; `locked` `contact_under_way` where a process that may
 * still send does not answer, and `stop_out_of_reach` where other machines could not be told.
 */
export const stopNow = async (
  gov: Gov, decide: () => StopOrder | null,
): Promise<Stopped | null> => {
  requireSound(gov.store, otherStop)
  const order = await decided(gov, decide)
  if (order === null) return null
  if (order.isDone === true) {
    const { underWay: [silent] } = await putAndReach(gov.store.holds, [order.aim])
    if (silent !== undefined) throw underWayError(silent, null)
    return null
  }
  const stop = newStop(gov.clock, order.aim, order.by)
  const reached = await putAndReach(gov.store.holds, [stop], () => gov.store.stops.put(stop))
  const recorded = { ...await recordStop(gov, stop), sent: reached.sent }
  const { stops, machine } = gov.store
  if (machine !== null) requireInReach([stops], recorded.why, true)
  requireAnswered(reached, stop)
  if (recorded.row?.outcome === 'refused') {
    throw fail.conflict(
      recorded.row.reason ?? 'stop_refused', 'What this rested on ended meanwhile; nothing ended.',
      { details: { stop_id: stop.id } },
    )
  }
  return { stop, recorded }
}

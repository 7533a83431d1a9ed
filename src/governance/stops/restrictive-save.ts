/**
 * A save that closes something: what it closes is stopped first, by a file that is in force without
 * the lock; then it is saved, and the record of the save spends the stops, so that what is opened
 * later is not covered. Invariants:
 * - while its save lives nobody else records such a stop, so nothing begins in between;
 * - of a save that was refused or died the stops are recorded as refused: they ended nothing but
 *   what was leaving.
 */
import { SallyportError } from '../../base/errors.js'
import type { Stop } from '../../state/stop-board.js'
import type { Tx } from '../../state/types.js'
import { nowIso, type Gov } from '../context.js'
import type { Guard } from '../../state/holds/guard.js'
import { collections } from '../rows.js'
import { newStop, putAndReach, reachCovered, recordStop, requireAnswered } from './act.js'
import type { FenceFacts, Reached } from '../../state/holds/fence.js'
import { putSpent } from './record.js'
import type { SaveAim } from './stop.js'

interface SaveClose {
  readonly aims: readonly SaveAim[]
  /** What is closed and stays so: who was silent when it was closed is looked for again. */
  readonly closed?: readonly SaveAim[]
  readonly by: Stop['by']
}

/** Writes the rows of the save's stops, in the record that closes what they are aimed at. */
export type Spend = (tx: Tx) => void

/** What a save came to. */
export interface RestrictiveSave<T> {
  readonly saved: T
  /** What had left before of what it closed; no more of it leaves. */
  readonly sent: readonly FenceFacts[]
}

const spendIn = (gov: Gov, stops: readonly Stop[]): Spend => (tx) => {
  if (stops.length === 0) return
  for (const stop of stops) putSpent(tx, nowIso(gov), stop)
  tx.mark()
}

/**
 * Puts the stops, each under a guard that says that its save lives. Where nobody can look nothing
 * is saved, and they are in force no longer: so that is not said of them.
 */
const putAll = async (
  { store }: Gov, stops: readonly Stop[], guards: Guard[],
): Promise<Reached> => {
  for (const { id } of stops) guards.push(await store.holds.hold('stop', id))
  return putAndReach(store.holds, stops, async () => {
    for (const stop of stops) await store.stops.put(stop)
  }, reachCovered)
}

/** What had left of it is none of this save: it was named when it was closed. */
const reachClosed = async (
  { store: { holds } }: Gov, closed: readonly SaveAim[],
): Promise<Reached> => {
  if (closed.length === 0) return { sent: [], underWay: [] }
  return { ...await putAndReach(holds, closed), sent: [] }
}

/** Removes the files of the stops that a record has spent; false where that was none's. */
const removeSpent = ({ store }: Gov, stops: readonly Stop[]): boolean => {
  const view = store.read()
  const spent = stops.filter(({ id }) => view.get(collections.stops, id) !== undefined)
  for (const stop of spent) store.stops.drop({ name: stop.id })
  return spent.length === stops.length
}

/** Nothing was saved: the stops become refused, by whoever writes next if not here. */
const refuse = async (gov: Gov, guards: readonly Guard[], [stop]: readonly Stop[]) => {
  for (const guard of guards) guard.release()
  if (stop === undefined) return
  try {
    await recordStop(gov, stop)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
  }
}

/**
 * Saves by `save`, which has to call `spend` in its record, once what it closes is stopped. Throws
 * what `save` and the disk do, and where it is saved `locked` `contact_under_way`, where a process
 * that may still send, also through what was closed before, does not answer, and
 * `stop_out_of_reach`, where nobody could look at what other machines were sending.
 */
export const closeBySave = async <T>(
  gov: Gov, { aims, closed = [], by }: SaveClose, save: (spend: Spend) => Promise<T>,
): Promise<RestrictiveSave<T>> => {
  const stops = aims.map((aim) => newStop(gov.clock, aim, by))
  const guards: Guard[] = []
  let narrowed: RestrictiveSave<T>
  let reached: Reached
  try {
    reached = stops.length === 0
      ? await reachClosed(gov, closed) : await putAll(gov, stops, guards)
    if (stops.length > 0) await gov.observer.at('save.stopped')
    narrowed = { saved: await save(spendIn(gov, stops)), sent: reached.sent }
    if (!removeSpent(gov, stops)) await refuse(gov, guards, stops)
  } catch (error) {
    await refuse(gov, guards, stops)
    throw error
  } finally {
    for (const guard of guards) guard.release()
  }
  requireAnswered(reached, stops[0] ?? null)
  return narrowed
}

import { SallyportError } from '../../base/errors.js'
import type { Clock } from '../../base/clock.js'
import type { Gov } from '../context.js'
import type { PolicyRevision } from '../rows.js'
import { newStop, reachStopped, recordStop, type StopRecord } from '../stops/act.js'
import { requireInReach } from '../stops/in-reach.js'
import type { Reached } from '../../state/holds/fence.js'
import type { FenceWatch, Holds } from '../../state/holds/holds.js'
import { recordDirectly } from '../stops/record.js'
import type { Stop, StopBoard } from '../../state/stop-board.js'
import { policyAt } from './head.js'

/** What came of a global revoke. It is in force whatever the rest says. */
export interface Revoked {
  readonly stop: Stop
  /** The revoked revision; null where the state takes no record now. */
  readonly policy: PolicyRevision | null
  /** Why it does not. */
  readonly why: SallyportError | null
  readonly reached: Reached
}

/** How long recording a revoke waits for the lock of the state, ms; it is in force before. */
export const recordWaitMs = 2_000

/** Where and by whom everything is stopped. */
export interface RevokeOrder {
  /** What processes of the state hold. */
  readonly stateHolds: Holds
  /** Where stops lie: one board, or those of every store that may be meant. */
  readonly boards: readonly StopBoard[]
  /** Whether other machines share the state. */
  readonly isShared?: boolean
  readonly clock: Clock
  readonly by: { readonly principal: string | null; readonly root: string | null }
  /** Opens the state for writing; its errors keep the stop from being recorded and nothing else. */
  open(): Promise<Gov>
}

/** Puts the stop on every board; null where that was done, or why it was not. */
const putAll = async (boards: readonly StopBoard[], stop: Stop): Promise<SallyportError | null> => {
  let why: SallyportError | null = null
  for (const board of boards) {
    try {
      await board.put(stop)
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      why = error
    }
  }
  return why
}

const opened = async (order: RevokeOrder): Promise<Gov | SallyportError> => {
  try {
    return await order.open()
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

/** Without a file of its own the stop is in force with its record, or not at all. */
const recordOnly = async (gov: Gov, stop: Stop): Promise<void> => {
  await gov.store.transact(
    stop.by.verb, (tx) => recordDirectly(gov.store, gov.clock, tx, stop), { first: true })
}

const policyOf = (gov: Gov, { row }: StopRecord): PolicyRevision | null => {
  const revision = row?.facts['revision']
  return typeof revision === 'number' ? policyAt(gov.store.read(), revision) ?? null : null
}

/** Opening the state may take long: what was leaving may have ended when it is looked at. */
const stopAll = async (order: RevokeOrder, watched: FenceWatch): Promise<Revoked> => {
  const { boards, clock, by } = order
  const stop = newStop(clock, { kind: 'all', target: null }, { ...by, verb: 'policy revoke' })
  const unwritten = await putAll(boards, stop)
  const gov = await opened(order)
  if (gov instanceof SallyportError) {
    if (gov.kind === 'no_state') {
      for (const board of boards) board.drop({ name: stop.id })
      throw gov
    }
    if (unwritten !== null) throw unwritten
    const reached = await reachStopped([stop], watched)
    requireInReach(boards, gov, order.isShared === true)
    return { stop, policy: null, why: gov, reached }
  }
  if (unwritten !== null) await recordOnly(gov, stop)
  const reached = await reachStopped([stop], watched)
  const recorded = await recordStop(gov, stop)
  requireInReach(boards, recorded.why, order.isShared === true)
  return { stop, policy: policyOf(gov, recorded), why: recorded.why, reached }
}

/**
 * The operator's global revoke: every route stops, every consent ends. It needs no session, lock,
 * key or sound store, because stopping must never be hard; it grants nothing. Throws `no_state`
 * where there is none, `locked` `stop_out_of_reach` where others may not see it, and what the disk
 * does where neither the stop nor its record can be written.
 */
export const revokePolicy = async (order: RevokeOrder): Promise<Revoked> => {
  const watched = order.stateHolds.watch()
  try {
    return await stopAll(order, watched)
  } finally {
    watched.close()
  }
}

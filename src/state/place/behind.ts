/**
 * A server of which an older copy was put back lacks records, and only machines that had seen them
 * notice: the others would go on with another ledger. So whoever notices stops everything for all,
 * and nobody writes there before the records are back or their machine was left out.
 */
import { isoFromMs } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { Stop, StopBoard } from '../stop-board.js'
import { serverChanged } from './errors.js'

const verb = 'server behind'

/** Said of a server that has other records than a machine: however many come, those are missing. */
const foreverBehind = 999_999_999_999_999

/** How far the server had been, and the machine that knows. */
interface Noticed {
  readonly sequence: number
  readonly machine: string
}

const noticedIn = ({ by, target }: Pick<Stop, 'by' | 'target'>): Noticed | null => {
  const [, sequence, machine = ''] = /^(\d{1,15}) (.+)$/.exec(target ?? '') ?? []
  return by.verb !== verb || sequence === undefined
    ? null : { sequence: Number(sequence), machine }
}

/** Whether a place failed as `server_changed` for a reason. */
export const isChangedFor = (error: unknown, reason: string): boolean =>
  error instanceof SallyportError && error.code === 'server_changed' && error.reason === reason

/** Whether a place failed so. */
export const isBehind = (error: unknown): boolean => isChangedFor(error, 'behind')

/** Whether a place has other records than this machine. */
export const isForked = (error: unknown): boolean => isChangedFor(error, 'other_history')
  || error instanceof SallyportError && error.code === 'replica_forked'

/** Whether that machine says that the place lacks what it has. */
export const stoppedBehind = (stops: StopBoard, machine: string): boolean =>
  stops.lying().some((stop) => noticedIn(stop)?.machine === machine)

const put = (stops: StopBoard, { sequence, machine }: Noticed, nowMs: number): Promise<void> =>
  stops.put({
    id: newId('stp'), kind: 'all', target: `${sequence} ${machine}`, at: isoFromMs(nowMs),
    by: { principal: null, root: null, verb },
  })

/** Stops everything for all, once. */
export const stopBehind = async (
  stops: StopBoard, noticed: Noticed, nowMs: number,
): Promise<void> => {
  const isSaid = stops.lying().map(noticedIn).some((said) =>
    said?.machine === noticed.machine && said.sequence >= noticed.sequence)
  if (!isSaid) await put(stops, noticed, nowMs)
}

/** The same where the server has other records: until that machine finds its own there. */
export const stopForked = (stops: StopBoard, machine: string, nowMs: number): Promise<void> =>
  stopBehind(stops, { sequence: foreverBehind, machine }, nowMs)

/** A machine that finds its own records lacks nothing; what it had stopped is still recorded. */
export const endForked = async (
  stops: StopBoard, noticed: Noticed, nowMs: number,
): Promise<void> => {
  for (const stop of stops.lying()) {
    const said = noticedIn(stop)
    if (said?.machine !== noticed.machine || said.sequence !== foreverBehind) continue
    await put(stops, noticed, nowMs)
    stops.drop(stop)
  }
}

/** Whether some machine says that the place lacks records, where its last one is this. */
export const isLacking = (stops: StopBoard, sequence: number): boolean =>
  stops.lying().some((stop) => (noticedIn(stop)?.sequence ?? 0) > sequence)

/** Throws `conflict` `server_changed` while the place lacks what some machine has. */
export const requireNotBehind = (stops: StopBoard, sequence: number): void => {
  if (isLacking(stops, sequence)) throw serverChanged('behind')
}

/** What machines alone had that were left out is lost: others go on without. */
export const dropBehind = (stops: StopBoard, machines: readonly string[]): void => {
  for (const stop of stops.lying()) {
    if (machines.includes(noticedIn(stop)?.machine ?? '')) stops.drop(stop)
  }
}

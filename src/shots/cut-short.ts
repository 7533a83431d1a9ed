/** What cuts a pass short: by the kind of its failure while it runs, by a reason in its receipt. */
import type { ErrorKind } from '../base/errors.js'

const kinds: readonly (ErrorKind | null)[] = ['locked', 'cancelled', 'remote']

/** Whether the next part of a pass would meet the same failure. */
export const stopsPass = (kind: ErrorKind | null): boolean => kinds.includes(kind)

/** A request may cost more by now than was said yes to. */
export const boundChanged = 'bound_changed'

const busy: ReadonlySet<string> = new Set([
  'lock_held', 'lane_busy', 'deadline_passed', 'place_unreachable', 'place_restless',
])

/** What a reason stands for where a stop, or a wait in vain, cut a pass short; null for others. */
export const cutKind = (reason: string): 'cancelled' | 'locked' | null => {
  if (/^(.+_)?cancelled$|^lock_wait_stopped$/.test(reason)) return 'cancelled'
  return busy.has(reason) ? 'locked' : null
}

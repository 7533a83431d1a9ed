/** Exit statuses, apart from all else that is told of a failure: a light answer needs no more. */
import type { ErrorKind } from './errors.js'

/** Exit statuses by name. Anything that is not named here is a failure too. */
export const exitStatus = {
  ok: 0,
  failed: 1,
  usage: 2,
  rejected: 3,
  unauthorized: 4,
  conflict: 5,
  not_found: 6,
  blocked: 7,
  budget: 8,
  remote: 9,
  no_state: 10,
  locked: 11,
  damaged: 12,
  partial: 13,
  cancelled: 130,
} as const satisfies Readonly<Record<ErrorKind | 'ok', number>>
/** Name of an exit status. */
export type ExitName = keyof typeof exitStatus

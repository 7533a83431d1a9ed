/**
 * Leases that this machine has at the place and that no process of it holds any more: their process
 * died, or never heard that it got them. Whoever has one holds a lock of this machine first, and
 * lets go of that first, so a lock that is free behind the look tells that nobody needs the lease.
 */
import { isHeld } from '../holds/guard.js'
import { isTurnHeld } from '../holds/holds.js'
import { isLaneHeld } from '../holds/lane.js'
import type { LeaseRow } from './place.js'

/** What may be part of the path of a lock; names come from the place. */
const pathForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/

/** Whether a process of this machine holds what a lease is of; of another kind counts so. */
const isAlive = (dir: string, lease: string): boolean => {
  if (lease === 'lane') return isLaneHeld(dir)
  const [kind, name = '', ...more] = lease.split('/')
  if (!pathForm.test(name) || more.length > 0) return true
  if (kind === 'hold') return isHeld(dir, name)
  return kind !== 'turn' || isTurnHeld(dir, name)
}

/** Their tokens, as of a look that told these leases. Changes no byte. */
export const deadTokens = (dir: string, leases: readonly LeaseRow[]): readonly string[] =>
  leases.flatMap(({ name, token }) => (token === null || isAlive(dir, name) ? [] : [token]))

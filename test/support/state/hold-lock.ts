import { join } from 'node:path'
import { tryLockFile } from '../../../src/state/kernel-lock.js'
import type { Placed } from '../../world/world.js'

/** Another process that holds the state lock; answers how it is given back. */
export const holdLock = ({ place }: Pick<Placed, 'place'>): (() => void) => {
  const lock = tryLockFile(join(place.stateDir, 'lock'))
  if (lock === null) throw new Error('the lock was not free')
  return lock.release
}

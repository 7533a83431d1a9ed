import { join } from 'node:path'
import { tryHoldFile } from '../../../src/state/holds/kernel-file.js'
import type { Placed } from '../../world/world.js'

/** Another process that holds the state lock; answers how it is given back. */
export const holdLock = ({ place }: Pick<Placed, 'place'>): (() => void) => {
  const lock = tryHoldFile(join(place.stateDir, 'lock'))
  if (lock === null) throw new Error('the lock was not free')
  return lock.release
}

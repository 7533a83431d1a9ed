/** Who waits for the provider lane, seen from outside as the kernel locks of its folder tell it. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { probeFile } from '../../src/state/holds/kernel-file.js'
import { lanePriorities, type LanePriority } from '../../src/state/holds/lane.js'

const placesOf = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** Live waiters of a line. Changes no byte. */
export const liveIn = (folder: string): number =>
  placesOf(folder).filter((name) => probeFile(join(folder, name)) === 'live').length

/** Live waiters by priority. Changes no byte. */
export const laneWaiters = (stateDir: string): Record<LanePriority, number> => {
  const count = (priority: LanePriority): number =>
    liveIn(join(stateDir, 'run', 'lane', priority))
  const [interactive, high, normal] = lanePriorities
  return {
    [interactive]: count(interactive), [high]: count(high), [normal]: count(normal),
  }
}

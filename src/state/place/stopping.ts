/**
 * Where everything of a state is stopped, also of one that is not sound: its boards, and what its
 * processes hold. Of a replica both reach to the other machines, as far as its STATE can be read.
 */
import { resolve } from 'node:path'
import { SallyportError } from '../../base/errors.js'
import { FileStore } from '../file-store.js'
import { nodeFiles } from '../files.js'
import { holdsAt, type Holds } from '../holds/holds.js'
import { placesOf } from '../paths.js'
import { looseStateFile } from '../state-file.js'
import type { StopBoard } from '../stop-board.js'
import { stopBoardsOf } from '../stop-folder.js'
import { isAnyGiven } from './place-file.js'

/** What a global stop needs. */
export interface Stopping {
  readonly boards: readonly StopBoard[]
  readonly stateHolds: Holds
  /** Whether other machines share the state, as far as can be told. */
  readonly isShared: boolean
  close(): void
}

interface Site {
  readonly dir: string
  readonly configDir: string
}

const keptInOf = ({ dir }: Site): 'place' | 'directory' | 'unknown' => {
  try {
    const state = looseStateFile(nodeFiles, placesOf(resolve(dir)).state)
    return state === undefined ? 'unknown' : state.kept_in ?? 'directory'
  } catch (error) {
    if (error instanceof SallyportError) return 'unknown'
    throw error
  }
}

/** A board of this machine alone: nobody elsewhere sees what is put there. */
const hereAlone = (board: StopBoard): StopBoard => ({
  put: (stop) => board.put(stop), lying: () => board.lying(), drop: (stop) => board.drop(stop),
  sweep: (nowMs) => board.sweep(nowMs), isInReach: () => false,
})

/** Opens nothing that has to be sound; needs no key and no lock. */
export const stoppingOf = async (site: Site): Promise<Stopping> => {
  const boards = stopBoardsOf(site)
  const local = { boards, stateHolds: holdsAt(site.dir), isShared: false, close: () => undefined }
  const kept = keptInOf(site)
  if (kept === 'directory') return local
  const alone = { ...local, isShared: true, boards: boards.map(hereAlone) }
  if (kept === 'unknown') return isAnyGiven(nodeFiles, site.configDir) ? alone : local
  try {
    const options = { ...site, mode: 'read' } as const
    const { PlacedStore } = await import('./placed-store.js')
    const store = new PlacedStore(new FileStore(options), options)
    return {
      boards: [store.stops], stateHolds: store.holds, isShared: true, close: () => store.close(),
    }
  } catch (error) {
    if (error instanceof SallyportError) return alone
    throw error
  }
}

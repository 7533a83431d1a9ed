import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Outside } from '../world/sandbox.js'
import type { Placed } from '../world/world.js'

/**
 * Keeps a prepared world, and answers what puts it back: state, keys and working folder as they are
 * now, no fault, no request seen. Subtests that begin so need none of those before them. Stores that
 * are open meanwhile must not be used afterwards.
 */
export const keptOf = ({ place, sandbox }: Placed & Outside): (() => void) => {
  const parts = [place.stateDir, place.configDir, place.cwd]
  const kept = (at: number): string => join(place.dir, 'kept', String(at))
  for (const [at, part] of parts.entries()) cpSync(part, kept(at), copying)
  return () => {
    for (const [at, part] of parts.entries()) {
      rmSync(part, { recursive: true, force: true })
      cpSync(kept(at), part, copying)
    }
    sandbox.faults.clear()
    sandbox.log.clear()
  }
}

const copying = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true } as const

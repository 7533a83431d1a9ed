import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Outside } from '../world/sandbox.js'
import type { Placed } from '../world/world.js'

/**
 * Keeps a prepared world, and answers what puts it back: state, keys and working folder as they
 * are now, no fault, no request seen. A subtest that begins so needs none of those before it.
 * Stores that are open meanwhile must not be used afterwards.
 */
export const keptOf = ({ place, sandbox }: Placed & Outside): (() => void) => {
  const parts = [place.stateDir, place.configDir, place.cwd]
  const dir = mkdtempSync(join(place.dir, 'kept-'))
  const kept = (at: number): string => join(dir, String(at))
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

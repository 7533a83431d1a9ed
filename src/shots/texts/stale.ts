import { SallyportError } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { locateRoot } from '../root.js'
import type { Observation } from '../rows.js'
import { savedSettings } from '../settings.js'

/** Digest of the configured root, or null where none can be told now. */
const currentRoot = (ctx: ShotsContext, view: View): string | null => {
  try {
    return locateRoot(ctx, savedSettings(view)).rootDigest
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}

/**
 * Whether a row points at an older root and never got an analysis, told from rows although nothing
 * has persisted it yet (S-162). Where no root can be told, none is older.
 */
export const isStale = (ctx: ShotsContext, view: View): ((row: Observation) => boolean) => {
  const root = currentRoot(ctx, view)
  return (row) => root !== null && row.root_digest !== root && row.payload === null
}

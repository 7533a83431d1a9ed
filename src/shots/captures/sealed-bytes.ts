import { SallyportError } from '../../base/errors.js'
import type { StoredCaptures } from '../../observations/captures.js'
import type { Store } from '../../state/types.js'

const isLost = (error: unknown): boolean => error instanceof SallyportError
  && (error.code === 'artifact_damaged' || error.code === 'evidence_missing')

/** The bytes of a stored capture; null where they cannot be had any more. */
export const sealedBytes = (
  store: Pick<Store, 'artifacts' | 'read'>, shelf: StoredCaptures, artifactId: string,
): Uint8Array | null => {
  try {
    return shelf.read(store, store.read(), artifactId)
  } catch (error) {
    if (isLost(error)) return null
    throw error
  }
}

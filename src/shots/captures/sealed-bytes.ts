import { SallyportError } from '../../base/errors.js'
import type { StoredCaptures } from '../../observations/captures.js'
import type { Store } from '../../state/types.js'

const isLost = (error: unknown): boolean => error instanceof SallyportError
  && (error.code === 'artifact_damaged' || error.code === 'evidence_missing')

/** Whether the disk did not give a stored capture this time: it may the next. */
export const isWithheld = (error: unknown): error is SallyportError =>
  error instanceof SallyportError
  && (error.code === 'io_failed' || error.code === 'not_permitted')

/**
 * The bytes of a stored capture; null where they cannot be had any more. Throws what the disk says,
 * see `isWithheld`.
 */
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

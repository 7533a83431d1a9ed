/** The newest image of a folder that was not held back: what the next one is compared with. */
import { decodeFingerprint } from '../../images/fingerprint.js'
import type { Fingerprint } from '../../images/types.js'
import { SallyportError } from '../../base/errors.js'
import { collections } from '../../governance/rows.js'
import type { ArtifactRef, Store, View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import { shotCollections as c } from '../observations/observation-rows.js'
import type { Representative } from './types.js'

/** Id under which the only fingerprint of a folder is registered. */
export const fingerprintArtifactId = (folderDigest: string): string =>
  `art_fingerprint_${folderDigest}`

/** The folder's current representative; null where there is none, or it was archived. */
export const representativeOf = (
  view: View, store: Store, folderDigest: string,
): Representative | null => {
  const kept = view.get(c.folders, folderDigest)?.representative ?? null
  const row = kept === null ? undefined : view.get(c.observations, kept.observation_id)
  if (kept === null || row === undefined || row.archived_at !== null) return null
  return { row, fingerprint: fingerprintFrom(view, store, folderDigest, kept.fingerprint) }
}

/** One that does not open merges nothing; `state check` says what is wrong with it. */
const fingerprintFrom = (
  view: View, store: Store, folderDigest: string, ref: ArtifactRef | null,
): Fingerprint | null => {
  if (ref === null) return null
  const registered = view.get(collections.artifacts, fingerprintArtifactId(folderDigest))
  if (registered?.ref.stored_sha256 !== ref.stored_sha256) return null
  try {
    return decodeFingerprint(store.artifacts.read(shotLabels.fingerprint, ref))
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}

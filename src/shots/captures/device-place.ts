/**
 * A paired device as a place that pictures come from. It has a row beside those of image folders,
 * with a representative of its own, so that neither is compared with pictures of the other (S-044).
 */
import { documents } from '../../state/each.js'
import type { View } from '../../state/types.js'
import { shotCollections as c, type ShotFolder } from '../observations/observation-rows.js'
import { folderDigestOf } from '../source/folder-digest.js'

const begins = 'edge:'

/** Name and digest of the place that a device is; no folder has such a name, as paths are whole. */
export const devicePlace = (
  deviceId: string,
): { readonly folder: string; readonly folderDigest: string } => {
  const folder = `${begins}${deviceId}`
  return { folder, folderDigest: folderDigestOf(folder) }
}

/** Whether the root of a row is a device. */
export const isDevicePlace = (root: string): boolean => root.startsWith(begins)

/** The image folders that were ever scanned, without devices. */
export const imageFolders = (view: View): ShotFolder[] =>
  [...documents(view.all(c.folders))].filter(({ root }) => !isDevicePlace(root))

import { digestOf } from '../../base/canonical.js'

/** Digest by which rows name an image folder: SHA-256 of its canonical path text. */
export const folderDigestOf = (folder: string): string => digestOf({ screenshot_root: folder })

const deviceBegins = 'edge:'

/**
 * Name and digest of the place that a paired device is: it has a row beside those of image folders,
 * with a representative of its own (S-044). No folder has such a name, as paths are whole.
 */
export const devicePlace = (
  deviceId: string,
): { readonly folder: string; readonly folderDigest: string } => {
  const folder = `${deviceBegins}${deviceId}`
  return { folder, folderDigest: folderDigestOf(folder) }
}

/** Whether the root of a row is a device. */
export const isDevicePlace = (root: string): boolean => root.startsWith(deviceBegins)

/** Id of the device that a root is; null for a folder. */
export const deviceOfPlace = (root: string): string | null =>
  (isDevicePlace(root) ? root.slice(deviceBegins.length) : null)

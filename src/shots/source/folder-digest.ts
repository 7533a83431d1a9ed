import { digestOf } from '../../base/canonical.js'

/** Digest by which rows name an image folder: SHA-256 of its canonical path text. */
export const folderDigestOf = (folder: string): string => digestOf({ screenshot_root: folder })

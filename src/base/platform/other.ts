/** Systems without a record of their own. The lock add-on does not load on most of them. */
import type { Platform } from './platform.js'
import { anyUnix } from './unix.js'

/** See `Platform`. */
export const other: Platform = { ...anyUnix, name: 'other' }

/** Named to be refused by name: `help`, `--version` and `doctor` answer there. */
export const windows: Platform = {
  ...other, name: 'windows', inspectorSignal: null, opener: () => null,
}

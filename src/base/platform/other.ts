/**
 * What systems have in common where they do not tell more, and those without a record of their own:
 * the lock add-on does not load on most of them.
 */
import { statfsSync } from 'node:fs'
import { constants } from 'node:os'
import type { Platform } from './platform.js'

const errnoNames: ReadonlyMap<number, string> = new Map([[constants.errno.EDQUOT, 'EDQUOT']])

/** Answers of a system that tells nothing beyond what every Unix tells. */
export const anyUnix = {
  placeOf: () => null,
  nameOf: () => null,
  bootId: () => null,
  usesMusl: () => false,
  opener: (env) => (env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : null),
  hasLaunchd: false,
  inspectorSignal: 'SIGUSR1',
  // Eight bits of the minor, then the major, as Unix has always packed them.
  deviceKind: (rdev) => (rdev >> 8) & 0xfff,
  freeBytes: (path) => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  },
  sharedKindOf: () => null,
  folded: (path) => path,
  errnoNames,
} as const satisfies Omit<Platform, 'name'>

/** See `Platform`. */
export const other: Platform = { ...anyUnix, name: 'other' }

/** Named to be refused by name: `help`, `--version` and `doctor` answer there. */
export const windows: Platform = {
  ...other, name: 'windows', inspectorSignal: null, opener: () => null,
}

/** macOS. Its own words for errors are read in open(2) and libuv; nothing of it was tried there. */
import type { Platform } from './platform.js'
import { anyUnix } from './other.js'

/** `EOPNOTSUPP`, which open(2) says of a socket: Node has no name for it. */
const opnotsupp = 102

/** The upper eight bits are the major. */
const majorShift = 24

/** See `Platform`. */
export const darwin: Platform = {
  ...anyUnix,
  name: 'darwin',
  opener: () => 'open',
  hasLaunchd: true,
  folded: (path) => path.normalize('NFD').toLowerCase(),
  deviceKind: (rdev) => rdev >>> majorShift,
  errnoNames: new Map([...anyUnix.errnoNames, [opnotsupp, 'ENXIO']]),
}

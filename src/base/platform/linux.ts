/** Linux, with and without /proc. */
import { existsSync, readFileSync, readlinkSync, statfsSync } from 'node:fs'
import type { Platform } from './platform.js'
import { anyUnix } from './other.js'

const orNull = <T>(read: () => T): T | null => {
  try {
    return read()
  } catch {
    return null
  }
}

let hasPlaces: boolean | undefined

/**
 * Numbers of statfs(2) by which Linux calls file systems whose locks may be known to one machine or
 * one program alone. Ceph, Lustre and their like lock as well as a local disk, if set up so.
 */
const sharedKinds = new Map<number, string>([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'], [0xff534d42, 'SMB'], [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x786f4256, 'a folder shared by VirtualBox'],
])

/** See `Platform`. */
export const linux: Platform = {
  ...anyUnix,
  name: 'linux',
  placeOf: (fd) =>
    ((hasPlaces ??= existsSync('/proc/self/fd')) ? `/proc/self/fd/${fd}` : null),
  nameOf: (fd) => orNull(() => readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' })),
  bootId: () => orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()),
  usesMusl: () =>
    orNull(() => readFileSync('/proc/self/maps', 'latin1'))?.includes('/ld-musl-') === true,
  sharedKindOf: (path) =>
    // Some numbers come with their upper half set.
    sharedKinds.get(orNull(() => statfsSync(path).type >>> 0) ?? 0) ?? null,
}

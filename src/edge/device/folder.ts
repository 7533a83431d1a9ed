/**
 * The folder of a capture device. It holds pictures and a credential in the clear, so it is refused
 * unless it is this user's own, closed to everybody else, and no link leads elsewhere (S-035).
 */
import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fail, type SallyportError } from '../../base/errors.js'
import { ensureDirs, orIoFailure, type Files } from '../../state/files.js'

/** Where a device keeps its things. */
export interface DevicePlaces {
  readonly dir: string
  /** Whom it is paired with, and the credential. */
  readonly pairing: string
  /** The last number given out, and what was sent under it. */
  readonly sending: string
  /** What its owner set; written by nobody else. */
  readonly settings: string
  /** Held for life by whoever sends. */
  readonly daemonLock: string
  /** Held for a moment by whoever changes the spool. */
  readonly spoolLock: string
  /** Captures that wait, in order. */
  readonly queue: string
  /** The same files by request id. */
  readonly ids: string
  /** Captures that the service will never take. */
  readonly aside: string
  /** A file that is being written. */
  readonly fresh: string
  /** What left the spool unsent. */
  readonly evictions: string
}

export const devicePlaces = (dir: string): DevicePlaces => ({
  dir,
  pairing: join(dir, 'pairing.json'),
  sending: join(dir, 'sending.json'),
  settings: join(dir, 'settings.json'),
  daemonLock: join(dir, 'daemon.lock'),
  spoolLock: join(dir, 'spool.lock'),
  queue: join(dir, 'queue'),
  ids: join(dir, 'ids'),
  aside: join(dir, 'aside'),
  fresh: join(dir, 'fresh'),
  evictions: join(dir, 'evictions.log'),
})

const othersMask = 0o077

const unsafe = (path: string, why: string, next: string): SallyportError =>
  fail.rejected('edge_folder_unsafe', `The folder ${basename(path)} of the device ${why}.`, {
    next, details: { folder: basename(path) },
  })

const check = (path: string): void => {
  const facts = lstatSync(path)
  if (!facts.isDirectory()) {
    throw unsafe(path, 'is a link or a file', 'Move it away, or set SALLYPORT_EDGE_DIR.')
  }
  if (facts.uid !== process.geteuid?.()) {
    throw unsafe(path, 'belongs to another user', 'Set SALLYPORT_EDGE_DIR to a folder of your own.')
  }
  if ((facts.mode & othersMask) !== 0) {
    throw unsafe(path, 'is open to other users', 'Look at what lies in it, then chmod 700 it.')
  }
}

/**
 * Makes what is missing (mode 700) and looks at what is there. Throws `rejected`
 * `edge_folder_unsafe` for a link, a folder of another user or one that others may enter, and what
 * `ioFailure` makes of an error of the disk.
 */
export const openDeviceFolder = (files: Files, dir: string): DevicePlaces =>
  orIoFailure('the folder of the device', () => {
    const places = devicePlaces(dir)
    ensureDirs(files, dir)
    check(dir)
    for (const path of [places.queue, places.ids, places.aside, places.fresh]) {
      ensureDirs(files, path)
      check(path)
    }
    return places
  })

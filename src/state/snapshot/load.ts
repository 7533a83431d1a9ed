/** Finds the newest valid generation on disk. Takes no lock and changes no byte. */
import { fail } from '../../base/errors.js'
import type { Files } from '../files.js'
import { errnoOf, readRange } from '../files.js'
import { vouchedHeader } from './header.js'
import type { PartCache } from './generation.js'
import { Generation } from './generation.js'
import { decodeLogHeader, logHeaderBytesMax } from '../log/format.js'
import type { Places } from '../paths.js'
import { logEpochs } from '../paths.js'
import { readManifest } from './snapshot.js'

/** Why a store refuses writes. `code` is stable; `message` names no content. */
export interface Damage {
  readonly code: string
  readonly message: string
}

/** A generation, and what is wrong with a newer one that had to be passed over. */
export interface Loaded {
  readonly generation: Generation
  readonly damage: Damage | undefined
}

const headerDamage: Damage = {
  code: 'log_header_damaged',
  message: 'The first line of the newest log is untrue; it was read from the manifest instead.',
}

/**
 * Opens one epoch: header true, of this store, its manifest true. Undefined when any of it is not;
 * `gone` when the log has been removed meanwhile. A header that is untrue, but follows from the
 * manifest, is rebuilt in memory as repair does it on disk: nothing behind it is lost.
 */
export const openEpoch = (
  files: Files, places: Places, cache: PartCache, storeId: string, epoch: number,
): Loaded | 'gone' | undefined => {
  let fd: number
  try {
    fd = files.open(places.log(epoch), 'read')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'gone'
    throw error
  }
  let keep = false
  try {
    const facts = files.fstat(fd)
    const first = readRange(files, fd, 0, Math.min(facts.size, logHeaderBytesMax))
    const decoded = decodeLogHeader(first)
    const head = decoded ?? vouchedHeader(files, places, epoch, first)
    if (head === undefined) return undefined
    const { header, end } = head
    if (header.store_id !== storeId || header.epoch !== epoch) return undefined
    const manifest = readManifest(files, places.manifest(epoch), header.manifest_sha256)
    if (manifest === undefined || manifest.epoch !== epoch) return undefined
    if (manifest.chain !== header.base_chain || manifest.sequence !== header.base_sequence) {
      return undefined
    }
    const made = new Generation(files, places, cache, header, manifest, fd, facts.ino, end)
    made.readTail(facts.size)
    keep = true
    return { generation: made, damage: decoded === undefined ? headerDamage : undefined }
  } finally {
    if (!keep) files.close(fd)
  }
}

const listTriesMax = 8

/** The newest valid generation; `damaged`/`no_valid_generation` when there is none. */
export const loadNewest = (
  files: Files, places: Places, cache: PartCache, storeId: string,
): Loaded => {
  for (let tries = 0; tries < listTriesMax; tries += 1) {
    let damage: Damage | undefined
    let raced = false
    for (const epoch of logEpochs(files.list(places.wal)).reverse()) {
      const opened = openEpoch(files, places, cache, storeId, epoch)
      if (opened === 'gone') {
        raced = true
        break
      }
      if (opened !== undefined) return { ...opened, damage: damage ?? opened.damage }
      damage ??= {
        code: 'generation_damaged',
        message: 'The newest log or its manifest is damaged; reads come from the one before.',
      }
    }
    if (!raced) break
  }
  throw fail.damaged('no_valid_generation', 'No log and manifest of this state are whole.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })
}

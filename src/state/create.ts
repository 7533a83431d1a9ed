/** Makes a state directory: everything under a temporary name, synced, then one rename. */
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { isoFromMs } from '../base/clock.js'
import { digestOf } from '../base/canonical.js'
import { fail } from '../base/errors.js'
import { writeAnchor } from './anchor.js'
import {
  ensureDurableDirs, ioFailure, publish, syncDir, withFile, writeAll, type Files,
} from './files.js'
import { KeyRing, keyText, makeKey } from './keys.js'
import { encodeLogHeader, firstChain } from './log/format.js'
import { basesAfter, headerOf } from './snapshot/header.js'
import { formatVersion, keyPlaces, placesOf } from './paths.js'
import { firstManifest } from './snapshot/founding.js'
import { encodeManifest, type Manifest } from './snapshot/manifest.js'
import { requireLocks } from './kernel-lock.js'
import { isOwnState } from './own-entries.js'
import { encodeStateFile, profileSealText, type StateFile } from './state-file.js'
import { makeWhole, sweepUnfinished, unfinishedPlace } from './unfinished.js'

/** What a new state directory is made from. */
interface CreateParts {
  readonly dir: string
  readonly configDir: string
  readonly profile: Readonly<Record<string, unknown>>
  readonly files: Files
  readonly nowMs: number
  /** Of a replica: which store it is of, and what rows call this machine. */
  readonly replica?: ReplicaOf
}

/** The store that a new replica is of. */
export interface ReplicaOf {
  readonly storeId: string
  /** Its key, 32 bytes. */
  readonly key: Buffer
  /** When the store was made (ISO). */
  readonly createdAt: string
  /** Left out on the machine that the store is made on. */
  readonly machine?: string
}

/**
 * Makes the directory and its key and anchor; answers the store id. A crash leaves nothing at
 * `dir` or the whole of it. `conflict`/`state_exists` when something is there.
 */
export const createState = (parts: CreateParts): string => {
  const { dir, files, configDir, nowMs } = parts
  try {
    refuseExisting(files, dir)
    requireLocks(dir)
    const parent = dirname(dir)
    ensureDurableDirs(files, parent)
    sweepUnfinished(files, parent, nowMs, (path) => isOwnState(files, path))
    const storeId = parts.replica?.storeId ?? randomUUID()
    const keyAt = keyPlaces(configDir, storeId)
    ensureDurableDirs(files, keyAt.dir)
    const key = parts.replica?.key ?? makeKey().key
    publish(files, keyAt.key, Buffer.from(keyText(key)))
    const keys = new KeyRing(storeId, () => key)
    const chain = firstChain(storeId)
    const first = { number: 0, sequence: 0, chain, policy_revision: null }
    writeAnchor(files, keyAt.anchor, keys, storeId, first)
    const state = stateOf(parts, keys, storeId)
    const made = unfinishedPlace(dir)
    makeWhole(files, { made, target: dir }, () => {
      writeSkeleton(files, made, firstManifest(state))
    })
    return storeId
  } catch (error) {
    throw ioFailure(error, 'making the state directory')
  }
}

const stateOf = (
  { profile, replica, nowMs }: CreateParts, keys: KeyRing, storeId: string,
): StateFile => ({
  schema: 'sallyport.state.v1',
  format_version: formatVersion,
  store_id: storeId,
  created_at: replica?.createdAt ?? isoFromMs(nowMs),
  profile_digest: digestOf(profile),
  profile_seal: keys.hmac('profile', profileSealText(storeId, profile)),
  profile: { ...profile },
  ...(replica === undefined ? {} : { kept_in: 'place' }),
  ...(replica?.machine === undefined ? {} : { machine: replica.machine }),
})

/** Throws `conflict` `state_exists` when something is at the directory. */
export const refuseExisting = (files: Files, dir: string): void => {
  const facts = files.stat(dir)
  if (facts === undefined) return
  if (facts.kind === 'dir' && files.list(dir).length === 0) return
  throw fail.conflict('state_exists', 'There is something at the state directory already.', {
    next: 'Use it, or name another with --state-dir.',
  })
}

/** Writes and syncs the folders, STATE, the manifest, its log and the empty files. */
const writeSkeleton = (files: Files, dir: string, manifest: Manifest): void => {
  const places = placesOf(dir)
  files.mkdir(dir)
  for (const folder of [places.wal, places.collections, places.artifacts, places.run]) {
    files.mkdir(folder)
  }
  const put = (path: string, bytes: Uint8Array): void =>
    withFile(files, path, 'create', (fd) => {
      if (bytes.length > 0) writeAll(files, fd, bytes, 0)
      files.sync(fd)
    })
  const [base] = basesAfter(manifest)
  if (base === undefined) throw new TypeError('a manifest without a log')
  put(places.state, encodeStateFile(manifest.state))
  put(places.lock, Buffer.alloc(0))
  put(places.fold, Buffer.alloc(0))
  put(places.witness, Buffer.alloc(0))
  put(places.manifest(manifest.number), encodeManifest(manifest))
  put(places.log(base.epoch), encodeLogHeader(headerOf(base).header))
  for (const folder of [places.wal, places.collections, places.artifacts, places.run, dir]) {
    syncDir(files, folder)
  }
}

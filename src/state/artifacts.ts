/**
 * Private content at rest. Bytes are sealed under a subkey of their record type and stored under
 * the SHA-256 of the sealed bytes. Publishing goes through the open folder itself, follows no link
 * and replaces nothing: temporary file made exclusively, synced, linked to its name, unlinked,
 * folder synced.
 */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { fail, SallyportError } from '../base/errors.js'
import type { Files } from './files.js'
import {
  ensureDir, errnoOf, ioFailure, isTemporary, readWhole, removeFile, syncDir, temporaryName,
  withFile, writeAll,
} from './files.js'
import type { KeyRing } from './keys.js'
import { openWith, sealedExtraBytes, sealWith } from './keys.js'
import type { ArtifactRef, Artifacts } from './types.js'

const randomMagic = 'SPA1'
const deterministicMagic = 'SPD1'
const nonceBytes = 12

const shardOf = (dir: string, storedSha256: string): string =>
  join(dir, storedSha256.slice(0, 2))

const storedName = /^[0-9a-f]{64}$/
const shardName = /^[0-9a-f]{2}$/

const keysFor = (
  keys: KeyRing, magic: string, label: string, sha256: string,
): { readonly key: Buffer; readonly nonce?: Buffer } => {
  if (magic === randomMagic) return { key: keys.subkey(`artifact/${label}`) }
  // One key per plaintext: the nonce may then be a function of the plaintext as well.
  const key = keys.subkeyOnce(`artifact-deterministic/${label}/${sha256}`)
  const nonce = Buffer.from(keys.hmac(`artifact-nonce/${label}`, sha256), 'hex')
  return { key, nonce: nonce.subarray(0, nonceBytes) }
}

/** `durable`: shards whose names this process has synced; a dead one may have made others. */
const publishSealed = (
  files: Files, dir: string, stored: string, sealed: Buffer, durable: Set<string>,
): void => {
  const shard = shardOf(dir, stored)
  if (!ensureDir(files, shard) && !durable.has(shard)) syncDir(files, dir)
  durable.add(shard)
  withFile(files, shard, 'folder', (folder) => {
    const inside = (name: string): string => files.inside(folder, shard, name)
    const temporary = inside(temporaryName())
    withFile(files, temporary, 'create', (fd) => {
      writeAll(files, fd, sealed, 0)
      files.sync(fd)
    })
    try {
      files.link(temporary, inside(stored))
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
      adoptExisting(files, join(shard, stored), stored, sealed.length)
    } finally {
      files.unlink(temporary)
    }
    files.sync(folder)
  })
}

/** The same sealed bytes are there already: check them and make them young for the sweep. */
const adoptExisting = (
  files: Files, path: string, stored: string, length: number,
): void => {
  const bytes = readSealed(files, path, length)
  if (bytes === undefined || hash('sha256', bytes) !== stored) throw damagedArtifact()
  files.touch(path)
}

/** The bytes of a stored file, whose length is known; a longer one is not what was stored. */
const readSealed = (files: Files, path: string, length: number): Buffer | undefined => {
  try {
    return readWhole(files, path, length)
  } catch (error) {
    if (error instanceof SallyportError && error.kind === 'damaged') throw damagedArtifact()
    throw error
  }
}

const damagedArtifact = (): Error =>
  fail.damaged('artifact_damaged', 'A stored artifact does not match its digest.', {
    next: 'Run `sallyport state check`.',
  })

/** Folders of an artifacts folder; a link in the place of one is not followed. */
const shardsIn = (files: Files, dir: string): string[] =>
  files.list(dir)
    .filter((name) => shardName.test(name) && files.stat(join(dir, name))?.kind === 'dir')

/** Every stored file under an artifacts folder, as names (SHA-256 of the stored bytes), sorted. */
export const storedNames = (files: Files, dir: string): string[] => {
  if (files.stat(dir) === undefined) return []
  const shards = shardsIn(files, dir)
  return shards.flatMap((shard) =>
    files.list(join(dir, shard)).filter((name) => storedName.test(name)))
}

/** Path of a stored file. */
export const storedPath = (dir: string, storedSha256: string): string =>
  join(shardOf(dir, storedSha256), storedSha256)

/** Artifacts under `dir`, sealed with `keys`. */
export const artifactsAt = (
  files: Files, dir: string, storeId: string, keys: KeyRing, mayWrite: boolean,
  durable: Set<string> = new Set(),
): Artifacts => ({
  write: (label, plaintext, options) => {
    if (!mayWrite) throw new TypeError('the store is open for reading only')
    const magic = options?.deterministic === true ? deterministicMagic : randomMagic
    const sha256 = hash('sha256', plaintext)
    const { key, nonce } = keysFor(keys, magic, label, sha256)
    const sealed = sealWith(key, magic, `${storeId}|${label}`, plaintext, nonce)
    const stored = hash('sha256', sealed)
    try {
      publishSealed(files, dir, stored, sealed, durable)
    } catch (error) {
      throw ioFailure(error, 'artifact')
    }
    return { stored_sha256: stored, sha256, bytes: plaintext.length }
  },
  read: (label, ref) => openStored(files, dir, storeId, keys, label, ref),
  remove: (stored) => {
    if (!mayWrite) throw new TypeError('the store is open for reading only')
    if (!storedName.test(stored)) throw new TypeError('not a stored artifact name')
    try {
      if (files.stat(shardOf(dir, stored))?.kind !== 'dir') return
      removeFile(files, storedPath(dir, stored))
      syncDir(files, shardOf(dir, stored))
    } catch (error) {
      throw ioFailure(error, 'artifact')
    }
  },
  list: () => storedNames(files, dir),
})

const openStored = (
  files: Files, dir: string, storeId: string, keys: KeyRing, label: string, ref: ArtifactRef,
): Buffer => {
  if (!storedName.test(ref.stored_sha256)) throw damagedArtifact()
  let sealed: Buffer | undefined
  try {
    const path = storedPath(dir, ref.stored_sha256)
    sealed = readSealed(files, path, ref.bytes + sealedExtraBytes)
  } catch (error) {
    throw ioFailure(error, 'artifact')
  }
  if (sealed === undefined) {
    throw fail.blocked('evidence_missing', 'A stored artifact is missing.', {
      next: 'Put it back from a backup, or run `sallyport state check`.',
    })
  }
  if (hash('sha256', sealed) !== ref.stored_sha256) throw damagedArtifact()
  const magic = sealed.toString('latin1', 0, 4)
  if (magic !== randomMagic && magic !== deterministicMagic) throw damagedArtifact()
  const { key } = keysFor(keys, magic, label, ref.sha256)
  const plaintext = openWith(key, magic, `${storeId}|${label}`, sealed)
  if (plaintext === undefined || plaintext.length !== ref.bytes) throw damagedArtifact()
  if (hash('sha256', plaintext) !== ref.sha256) throw damagedArtifact()
  return plaintext
}

/** Artifacts younger than this are kept by a sweep: their record may be about to be written. */
const orphanAgeMs = 15 * 60 * 1000

/**
 * Removes stored files that no record refers to and temporary files of dead processes, both only
 * when older than `orphanAgeMs`. The lock must be held. Answers how many went.
 */
export const sweepOrphans = (
  files: Files, dir: string, referenced: ReadonlySet<string>, nowMs: number,
): number => {
  let removed = 0
  for (const shard of shardsIn(files, dir)) {
    const folder = join(dir, shard)
    for (const name of files.list(folder)) {
      const orphan = isTemporary(name) || (storedName.test(name) && !referenced.has(name))
      const path = join(folder, name)
      const facts = orphan ? files.stat(path) : undefined
      if (facts?.kind !== 'file' || facts.mtimeMs > nowMs - orphanAgeMs) continue
      removeFile(files, path)
      removed += 1
    }
  }
  return removed
}

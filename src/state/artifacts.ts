/**
 * Private content at rest. Bytes are sealed under a subkey of their record type and stored under
 * the SHA-256 of the sealed bytes. Publishing goes through the open folder itself, follows no link
 * and replaces nothing: temporary file made exclusively, synced, linked to its name, unlinked,
 * folder synced.
 */
import { hash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { SallyportError } from '../base/errors.js'
import {
  damagedArtifact, FileDraft, missingArtifact, requireShard, storedPath, type ArtifactFolder,
} from './artifact-folder.js'
import {
  orIoFailure, isTemporary, readWhole, removeFile, syncDir, namesIn, type Files,
} from './files.js'
import { allHeldBytesMax, HeldDraft, type HeldBytes } from './held-draft.js'
import { openWith, sealedExtraBytes, sealWith, type KeyRing } from './keys.js'
import { headBytes, magicOf, PieceCipher, type PieceMagic } from './pieces/cipher.js'
import { PiecePackReader, PiecePackWriter } from './pieces/pack.js'
import { openSource, type PieceSource } from './pieces/source.js'
import { PieceStreamReader, PieceStreamWriter } from './pieces/stream.js'
import type { ArtifactRef, Artifacts } from './types.js'

const randomMagic = 'SPA1'
const deterministicMagic = 'SPD1'
const nonceBytes = 12

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

/** The bytes of a stored file, whose length is known; a longer one is not what was stored. */
const readSealed = (files: Files, path: string, length: number): Buffer | undefined => {
  try {
    return readWhole(files, path, length)
  } catch (error) {
    if (error instanceof SallyportError && error.kind === 'damaged') throw damagedArtifact()
    throw error
  }
}

/** Folders of an artifacts folder; a link in the place of one is not followed. */
const shardsIn = (files: Files, dir: string): string[] =>
  namesIn(files, dir)
    .filter((name) => shardName.test(name) && files.stat(join(dir, name))?.kind === 'dir')

/** Every stored file under an artifacts folder, as names (SHA-256 of the stored bytes), sorted. */
export const storedNames = (files: Files, dir: string): string[] => {
  return shardsIn(files, dir).flatMap((shard) =>
    namesIn(files, join(dir, shard)).filter((name) => storedName.test(name)))
}

/** Where artifacts lie and what seals them. */
interface Place extends ArtifactFolder {
  readonly storeId: string
  readonly keys: KeyRing
}

interface ArtifactsUse {
  readonly mayWrite: boolean
  /** See `OpenOptions.heldBytes`. */
  readonly heldBytes?: number | undefined
}

export const artifactsAt = (
  files: Files, dir: string, storeId: string, keys: KeyRing,
  { mayWrite, heldBytes }: ArtifactsUse,
): Artifacts => {
  const at: Place = { files, dir, storeId, keys, durable: new Set() }
  const held: HeldBytes = { bytes: 0, bytesMax: heldBytes ?? allHeldBytesMax }
  const requireWriting = (): void => {
    if (!mayWrite) throw new TypeError('the store is open for reading only')
  }
  return {
    write: (label, plaintext, options) => {
      requireWriting()
      return orIoFailure('artifact', () =>
        writeWhole(at, label, plaintext, options?.deterministic === true))
    },
    writeStream: (label, { bytesMax = Number.MAX_SAFE_INTEGER, announce } = {}) => {
      requireWriting()
      return new PieceStreamWriter(
        new HeldDraft(at, held, announce), PieceCipher.fresh(keys, storeId, 'SPT1', label),
        bytesMax)
    },
    writePack: (label) => {
      requireWriting()
      return new PiecePackWriter(
        new FileDraft(at, { kind: 'named' }), PieceCipher.fresh(keys, storeId, 'SPP1', label))
    },
    read: (label, ref) => openStored(at, label, ref),
    openStream: (label, ref) => openPieces(at, 'SPT1', label, ref, (source, cipher) =>
      new PieceStreamReader(source, cipher, ref)),
    openPack: (label, ref) => openPieces(at, 'SPP1', label, ref, (source, cipher) =>
      new PiecePackReader(source, cipher, ref)),
    verify: (label, ref) => verifyStored(at, label, ref),
    remove: (stored) => {
      requireWriting()
      if (!storedName.test(stored)) throw new TypeError('not a stored artifact name')
      orIoFailure('artifact', () => {
        const shard = dirname(storedPath(dir, stored))
        if (files.stat(shard)?.kind !== 'dir') return
        removeFile(files, storedPath(dir, stored))
        syncDir(files, shard)
      })
    },
    removeTemporary: (name) => {
      requireWriting()
      if (!isTemporary(name)) throw new TypeError('not a temporary name')
      orIoFailure('artifact', () => removeFile(files, join(dir, name)))
    },
    list: () => storedNames(files, dir),
  }
}

const writeWhole = (
  at: Place, label: string, plaintext: Uint8Array, deterministic: boolean,
): ArtifactRef => {
  const magic = deterministic ? deterministicMagic : randomMagic
  const sha256 = hash('sha256', plaintext)
  const { key, nonce } = keysFor(at.keys, magic, label, sha256)
  const draft = new FileDraft(at, { kind: 'named' })
  draft.append(sealWith(key, magic, `${at.storeId}|${label}`, plaintext, nonce))
  return { stored_sha256: draft.publish(), sha256, bytes: plaintext.length }
}

/** Where a stored file lies. Throws `damaged` for what is no name, or lies behind a link. */
const pathOfStored = (
  { files, dir }: Pick<Place, 'files' | 'dir'>, { stored_sha256: stored }: ArtifactRef,
): string => {
  if (!storedName.test(stored)) throw damagedArtifact()
  orIoFailure('artifact', () => requireShard(files, dir, stored))
  return storedPath(dir, stored)
}

const openNamed = (at: Pick<Place, 'files' | 'dir'>, ref: ArtifactRef): PieceSource =>
  openSource(at.files, pathOfStored(at, ref))

/** Opens a stored file of sealed pieces; a file of another kind is damage. */
const openPieces = <T>(
  { files, dir, keys, storeId }: Place, magic: PieceMagic, label: string, ref: ArtifactRef,
  use: (source: PieceSource, cipher: PieceCipher) => T,
): T => {
  const source = openNamed({ files, dir }, ref)
  try {
    const cipher = PieceCipher.of(keys, storeId, magic, label, source.read(0, headBytes))
    if (cipher === undefined) throw damagedArtifact()
    return use(source, cipher)
  } catch (error) {
    source.close()
    throw error
  }
}

const verifyStored = (at: Place, label: string, ref: ArtifactRef): void => {
  const source = openNamed(at, ref)
  const magic = magicOf(source.read(0, headBytes))
  source.close()
  if (magic === 'SPP1') {
    openPieces(at, magic, label, ref, (open, cipher) => {
      new PiecePackReader(open, cipher, ref).verify()
      open.close()
    })
  } else if (magic === 'SPT1') {
    openPieces(at, magic, label, ref, (open, cipher) => {
      for (const piece of new PieceStreamReader(open, cipher, ref).pieces()) piece.fill(0)
      open.close()
    })
  } else {
    openStored(at, label, ref).fill(0)
  }
}

const openStored = (
  { files, dir, storeId, keys }: Place, label: string, ref: ArtifactRef,
): Buffer => {
  const path = pathOfStored({ files, dir }, ref)
  const sealed = orIoFailure(
    'artifact', () => readSealed(files, path, ref.bytes + sealedExtraBytes),
  )
  if (sealed === undefined) throw missingArtifact()
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

/** Whether an entry may be swept: a regular file that is old enough. */
const isOld = (files: Files, path: string, nowMs: number): boolean => {
  const facts = files.stat(path)
  return facts?.kind === 'file' && facts.mtimeMs <= nowMs - orphanAgeMs
}

/** Paths of unfinished files that nobody has written to for `orphanAgeMs`. */
export const oldTemporaries = (files: Files, dir: string, nowMs: number): string[] =>
  namesIn(files, dir).filter(isTemporary).map((name) => join(dir, name))
    .filter((path) => isOld(files, path, nowMs))

/**
 * Paths of stored files that no record refers to and of temporary files of dead processes, both
 * only when older than `orphanAgeMs`.
 */
export const orphansIn = (
  files: Files, dir: string, referenced: ReadonlySet<string>, nowMs: number,
): string[] =>
  [dir, ...shardsIn(files, dir).map((shard) => join(dir, shard))].flatMap((folder) =>
    namesIn(files, folder)
      .filter((name) => isTemporary(name)
        || (folder !== dir && storedName.test(name) && !referenced.has(name)))
      .map((name) => join(folder, name))
      .filter((path) => isOld(files, path, nowMs)))

/** Removes what `orphansIn` finds. The lock must be held. Answers how many went. */
export const sweepOrphans = (
  files: Files, dir: string, referenced: ReadonlySet<string>, nowMs: number,
): number => {
  const found = orphansIn(files, dir, referenced, nowMs)
  for (const path of found) removeFile(files, path)
  return found.length
}

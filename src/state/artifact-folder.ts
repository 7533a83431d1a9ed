/**
 * The folder of stored artifacts, written without following a link in any part below the state
 * directory and without replacing anything. A file gets its name, the SHA-256 of its bytes, when it
 * is whole and synced; until then it lies under a temporary name, or has none.
 */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { fail } from '../base/errors.js'
import {
  ensureDir, errnoOf, ioFailure, readRange, syncDir, temporaryName, withFile, writeAll, type Files,
} from './files.js'
import { requireOwnFolders } from './folders.js'
import type { PublishedNames } from './types.js'

const shardOf = (storedSha256: string): string => storedSha256.slice(0, 2)

export const storedPath = (dir: string, storedSha256: string): string =>
  join(dir, shardOf(storedSha256), storedSha256)

/**
 * Throws `damaged` `folder_replaced` where the folder of a stored name is a link or a file: it
 * would lead to bytes of somebody else.
 */
export const requireShard = (files: Files, dir: string, storedSha256: string): void =>
  requireOwnFolders(files, dirname(dir), [`artifacts/${shardOf(storedSha256)}`])

/** `damaged` `artifact_damaged`. */
export const damagedArtifact = (): Error =>
  fail.damaged('artifact_damaged', 'A stored artifact does not match its digest.', {
    next: 'Run `sallyport state check`.',
  })

/** `blocked` `evidence_missing`. */
export const missingArtifact = (): Error =>
  fail.blocked('evidence_missing', 'A stored artifact is missing.', {
    next: 'Put it back from a backup, or run `sallyport state check`.',
  })

/** An open folder and the paths of names that go through it. */
interface OpenFolder {
  readonly fd: number
  inside(name: string): string
}

/** Where artifacts are written. */
export interface ArtifactFolder {
  readonly files: Files
  readonly dir: string
  /** Shards whose names this process has synced; a dead one may have made others. */
  readonly durable: Set<string>
}

const inFolder = <T>(files: Files, path: string, use: (folder: OpenFolder) => T): T =>
  withFile(files, path, 'folder', (fd) =>
    use({ fd, inside: (name) => files.inside(fd, path, name) }))

/** The shard of a stored name, made where it is missing; its own name is durable. */
const inShard = <T>(
  { files, dir, durable }: ArtifactFolder, stored: string, use: (shard: OpenFolder) => T,
): T => inFolder(files, dir, (root) => {
  requireShard(files, dir, stored)
  const path = root.inside(shardOf(stored))
  if (!ensureDir(files, path) && !durable.has(shardOf(stored))) syncDir(files, dir)
  durable.add(shardOf(stored))
  return inFolder(files, path, use)
})

const pieceBytes = 1024 * 1024

/** Whether an open file's bytes are those of another. */
const sameBytes = (files: Files, path: string, fd: number, bytes: number): boolean =>
  withFile(files, path, 'read', (other) => {
    if (files.fstat(other).size !== bytes) return false
    for (let at = 0; at < bytes; at += pieceBytes) {
      const length = Math.min(pieceBytes, bytes - at)
      const [a, b] = [readRange(files, fd, at, length), readRange(files, other, at, length)]
      if (a.length !== length || !a.equals(b)) return false
    }
    return true
  })

/**
 * Gives a synced file the name of its bytes. What stands there already must be the same, byte for
 * byte (`damaged` `artifact_damaged`), and is made young for the sweep.
 */
const linkUnderName = (
  folder: ArtifactFolder, temporary: string, fd: number, stored: string,
): void => {
  const { files } = folder
  inShard(folder, stored, (shard) => {
    const path = shard.inside(stored)
    try {
      files.link(temporary, path)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
      if (!sameBytes(files, path, fd, files.fstat(fd).size)) throw damagedArtifact()
      files.touch(path)
    }
    files.sync(shard.fd)
  })
}

/** Is told which names a file is about to get. */
export type Announce = (names: PublishedNames) => void

/** What kind of file a draft is, see `FileDraft`. */
interface FileDraftOptions {
  readonly kind: 'named' | 'nameless'
  /** The temporary name, where it was announced. */
  readonly temporary?: string
  /** Where the caller has digested what is appended, its SHA-256 in hex. */
  readonly stored?: string
  readonly announce?: Announce | undefined
}

/**
 * An artifact that is being written: sealed bytes in, its name out. After an error it is abandoned.
 * Errors of the disk are `failed`, see `ioFailure`.
 */
export interface Draft {
  /** Bytes written so far. */
  readonly bytes: number
  append(bytes: Uint8Array): void
  /** Publishes what was written, durable when it returns; answers the name. */
  publish(): string
  /** Lets go of it; may run twice, and after an error. */
  abandon(): void
  /** A defect of the caller: what is published or abandoned takes nothing more. */
  requireOpen(): void
}

/** A draft in a file. */
export class FileDraft implements Draft {
  readonly #folder: ArtifactFolder
  readonly #named: boolean
  readonly #announce: Announce
  readonly #stored: string | undefined
  readonly #digest = createHash('sha256')
  /** Open while the draft is. */
  #open: { readonly fd: number; readonly root: number; readonly path: string } | undefined
  #bytes = 0

  /**
   * `named`: under a temporary name until it is published. A `nameless` file has no name from the
   * start, so that a process that dies leaves nothing, and is copied when it is published: the
   * names of the copy are announced before it is made.
   */
  constructor(
    folder: ArtifactFolder,
    { kind, temporary = temporaryName(), stored, announce = () => undefined }: FileDraftOptions,
  ) {
    this.#folder = folder
    this.#named = kind === 'named'
    this.#announce = announce
    this.#stored = stored
    const { files, dir } = folder
    this.#orAbandon(() => {
      const root = files.open(dir, 'folder')
      const path = files.inside(root, dir, temporary)
      try {
        this.#open = { fd: files.open(path, 'scratch'), root, path }
      } catch (error) {
        files.close(root)
        throw error
      }
      if (!this.#named) files.unlink(path)
    })
  }

  get bytes(): number {
    return this.#bytes
  }

  append(bytes: Uint8Array): void {
    const { fd } = this.#draft()
    this.#orAbandon(() => {
      writeAll(this.#folder.files, fd, bytes, this.#bytes)
      if (this.#stored === undefined) this.#digest.update(bytes)
      this.#bytes += bytes.length
    })
  }

  publish(): string {
    const { fd, path } = this.#draft()
    const stored = this.#stored ?? this.#digest.digest('hex')
    this.#orAbandon(() => {
      if (this.#named) {
        this.#folder.files.sync(fd)
        linkUnderName(this.#folder, path, fd, stored)
      } else {
        this.#copy(fd, stored)
      }
    })
    this.abandon()
    return stored
  }

  abandon(): void {
    const { files } = this.#folder
    if (this.#open === undefined) return
    const { fd, root, path } = this.#open
    this.#open = undefined
    try {
      if (this.#named) files.unlink(path)
    } catch {
      // A sweep removes it; the error that led here, if there is one, is the one to tell.
    } finally {
      files.close(fd)
      files.close(root)
    }
  }

  requireOpen(): void {
    this.#draft()
  }

  #draft(): { readonly fd: number; readonly path: string } {
    if (this.#open === undefined) throw new TypeError('the artifact is published or abandoned')
    return this.#open
  }

  #orAbandon(fn: () => void): void {
    try {
      fn()
    } catch (error) {
      this.abandon()
      throw ioFailure(error, 'artifact')
    }
  }

  /** A file without a name cannot be linked: its bytes go into one that has. */
  #copy(from: number, stored: string): void {
    const { files } = this.#folder
    const temporary = temporaryName()
    this.#announce({ temporary, stored })
    const copy = new FileDraft(this.#folder, { kind: 'named', temporary })
    try {
      for (let at = 0; at < this.#bytes; at += pieceBytes) {
        copy.append(readRange(files, from, at, Math.min(pieceBytes, this.#bytes - at)))
      }
      // What is read back must be what was written.
      if (copy.#digest.copy().digest('hex') !== stored) throw damagedArtifact()
      copy.publish()
    } finally {
      copy.abandon()
    }
  }
}

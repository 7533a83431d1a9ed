/**
 * A draft that lies in memory while it is small: most uploads are, and each would otherwise be
 * written to a file without a name, read back, digested again and written once more. A process that
 * dies leaves nothing of it. A longer one, or one too many at once, goes on in such a file.
 */
import { createHash } from 'node:crypto'
import { FileDraft, type Announce, type ArtifactFolder, type Draft } from './artifact-folder.js'
import { temporaryName } from './files.js'

/** Longest draft that lies in memory, in bytes. */
export const heldBytesMax = 2 * 1024 * 1024
/** What all of them in one store may take together where nothing else is said, in bytes. */
export const allHeldBytesMax = 16 * 1024 * 1024

/** Drafts that lie in memory. */
export interface HeldBytes {
  /** What they take together. */
  bytes: number
  /** What they may take. */
  readonly bytesMax: number
}

/**
 * A draft without a name until it is published; its names are announced before it has one. What is
 * appended must not be changed after.
 */
export class HeldDraft implements Draft {
  readonly #folder: ArtifactFolder
  readonly #all: HeldBytes
  readonly #announce: Announce | undefined
  /** Null once it is in a file, or over. */
  #parts: Uint8Array[] | null = []
  #held = 0
  #file: FileDraft | null = null

  constructor(folder: ArtifactFolder, all: HeldBytes, announce?: Announce) {
    this.#folder = folder
    this.#all = all
    this.#announce = announce
  }

  get bytes(): number {
    return this.#file?.bytes ?? this.#held
  }

  append(bytes: Uint8Array): void {
    this.requireOpen()
    const isShort = this.#held + bytes.length <= heldBytesMax
      && this.#all.bytes + bytes.length <= this.#all.bytesMax
    if (this.#parts === null || !isShort) return this.#inFile().append(bytes)
    this.#parts.push(bytes)
    this.#held += bytes.length
    this.#all.bytes += bytes.length
  }

  publish(): string {
    this.requireOpen()
    if (this.#file !== null) return this.#file.publish()
    const parts = this.#taken()
    const digest = createHash('sha256')
    for (const part of parts) digest.update(part)
    const [temporary, stored] = [temporaryName(), digest.digest('hex')]
    this.#announce?.({ temporary, stored })
    const file = new FileDraft(this.#folder, { kind: 'named', temporary, stored })
    try {
      for (const part of parts) file.append(part)
      return file.publish()
    } finally {
      file.abandon()
    }
  }

  abandon(): void {
    this.#taken()
    this.#file?.abandon()
  }

  requireOpen(): void {
    if (this.#file !== null) return this.#file.requireOpen()
    if (this.#parts === null) throw new TypeError('the artifact is published or abandoned')
  }

  /** Goes on in a file that has no name. */
  #inFile(): FileDraft {
    if (this.#file !== null) return this.#file
    const parts = this.#taken()
    this.#file = new FileDraft(this.#folder, { kind: 'nameless', announce: this.#announce })
    for (const part of parts) this.#file.append(part)
    return this.#file
  }

  /** What lies in memory, which it no longer does. */
  #taken(): readonly Uint8Array[] {
    const parts = this.#parts ?? []
    this.#parts = null
    this.#all.bytes -= this.#held
    this.#held = 0
    return parts
  }
}

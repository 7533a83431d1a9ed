/**
 * What a process that writes may rest on. A process that died, or whose sync failed, leaves bytes
 * and names that everybody can read and that the next power cut may take: after a failed sync Linux
 * counts its pages as clean, so that a later sync says yes and writes nothing. So what this process
 * has not itself made durable is written again, in its place and with the same bytes, before
 * anything is put behind it, and synced with it; and so are the names on the way to it.
 */
import { dirname } from 'node:path'
import { readRange, syncDir, syncDirIfOpen, writeAll, type Files } from './files.js'
import { pieceBytes } from './log/scan.js'
import type { KeyPlaces, Places } from './paths.js'
import type { Generation } from './snapshot/generation.js'
import { sealFormer } from './snapshot/rotate.js'

/** The directory whose log is written. */
interface ConfirmedPlace {
  readonly files: Files
  readonly dir: string
  readonly places: Places
  readonly keyPlaces: KeyPlaces
}

/** Which log a generation ends in: a new moment of the same log is still that log. */
const logOf = ({ epoch, log }: Generation): string => `${epoch} ${log?.inode ?? 0}`

/** What of the newest log this process has itself made durable. */
export class Confirmation {
  readonly #at: ConfirmedPlace
  #log: string | undefined
  /** Up to where this process has synced the log of that generation. */
  #end = 0
  /** Whether the folders beyond the log's own have been synced; once is enough. */
  #place = false
  /** The log whose name this process has synced. */
  #named: string | undefined

  constructor(at: ConfirmedPlace) {
    this.#at = at
  }

  /** Whether everything read so far is durable by this process's own doing. */
  covers(generation: Generation): boolean {
    return this.#place && this.#log === logOf(generation) && this.#end === generation.end
  }

  /**
   * Syncs the names that lead to the log, before the lock is taken for a transaction that holds it
   * shortly: the log was opened by its name, and another log by then has its own synced again.
   */
  nameLog(generation: Generation): void {
    if (this.#log === logOf(generation)) return
    this.#syncFolders(generation)
  }

  /** Writes what is not confirmed once more; the caller syncs, then calls `synced`. */
  rewrite(generation: Generation, fd: number): void {
    const { files } = this.#at
    let at = this.#log === logOf(generation) ? this.#end : generation.start
    while (at < generation.end) {
      const bytes = readRange(files, fd, at, Math.min(pieceBytes, generation.end - at))
      writeAll(files, fd, bytes, at)
      at += bytes.length
    }
  }

  /** The log's bytes are synced up to `end`: now the names that lead to it. */
  synced(generation: Generation, end: number): void {
    if (this.#log !== logOf(generation)) {
      if (this.#named !== logOf(generation)) this.#syncFolders(generation)
      if (generation.log !== undefined) {
        sealFormer(this.#at.files, this.#at.places, generation.log.header)
      }
    }
    this.#log = logOf(generation)
    this.#end = end
  }

  /**
   * A log that this process has begun itself, empty as yet, behind one that was confirmed: the
   * folders beyond the log's own were synced for that one.
   */
  published(generation: Generation): void {
    this.#log = logOf(generation)
    this.#end = generation.end
  }

  #syncFolders(generation: Generation): void {
    const { files, dir, places, keyPlaces } = this.#at
    syncDir(files, places.wal)
    this.#named = logOf(generation)
    if (this.#place) return
    for (const folder of [dir, dirname(dir), keyPlaces.dir]) syncDirIfOpen(files, folder)
    this.#place = true
  }
}

/**
 * Kernel notices about a folder, used as hints alone: a notice says that a look is worth while, the
 * look decides. The folder has one watch of its own, and a lookout at its parent notices that it is
 * removed, made again or renamed; a stat every second finds what the notices missed.
 */
import { lstatSync, statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { pathBelow } from '../scan/names.js'
import { isImageName } from '../scan/walk.js'
import { lookOutFor, type Lookout } from './lookout.js'

/** Who is told. */
interface HintListener {
  /** A file was noticed, latin1 below the folder; null: something about the folder itself. */
  hint(name: string | null): void
  /** Notices cannot be had (a limit of the system, a file system without them). */
  blind(): void
}

/** Folders below the image folder that are watched too, when the walk is recursive. */
const foldersMax = 512

type Path = string | Buffer

/** A folder that is followed below the image folder. */
interface Followed {
  readonly watcher: FSWatcher
  readonly identity: string
}

/** Device and inode of a folder; null where none can be seen. */
const identityOf = (path: Path): string | null => {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat?.isDirectory() === true ? `${stat.dev}:${stat.ino}` : null
  } catch {
    return null
  }
}

/** Whether the walk would enter it: a folder itself, not a link to one. */
const isFolder = (path: Path): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}

/** Watches one image folder. Closed, it tells nothing any more. */
export class FolderHints {
  #watcher: FSWatcher | null = null
  #lookout: Lookout | null = null
  /** Device and inode of what `#watcher` watches. */
  #identity: string | null = null
  #parentIdentity: string | null = null
  readonly #below = new Map<string, Followed>()
  /** Whether folders below it are followed. */
  #recursive = false
  #blind = false

  constructor(readonly folder: string, readonly listener: HintListener) {
    this.check()
  }

  /** True where a look now and then is all there is. */
  get isBlind(): boolean {
    return this.#blind
  }

  /** Watches what is at the path now; tells when that is another folder than before. */
  check(): void {
    const parentNow = identityOf(dirname(this.folder))
    if (parentNow !== this.#parentIdentity) {
      this.#lookout?.close()
      this.#lookout = parentNow === null ? null : lookOutFor(this.folder, () => this.check())
      this.#parentIdentity = parentNow
    }
    const now = identityOf(this.folder)
    if (now === this.#identity) return
    this.#watcher?.close()
    this.#closeBelow()
    this.#watcher = now === null ? null : this.#open(this.folder, (name) => this.#noticed('', name))
    this.#identity = now
    this.listener.hint(null)
  }

  /**
   * Watches these folders below it as well, and no others; null: the walk enters none. A
   * folder that is new here is told, since files may have come to it before it was watched.
   */
  follow(folders: readonly string[] | null): void {
    this.#recursive = folders !== null
    const wanted = new Set(folders?.slice(0, foldersMax))
    for (const [name, { watcher, identity }] of this.#below) {
      // A folder that was made again under its name is another folder: the old watch is dead.
      if (wanted.has(name) && identityOf(pathBelow(this.folder, name)) === identity) continue
      watcher.close()
      this.#below.delete(name)
    }
    const before = this.#below.size
    for (const name of wanted) this.#followOne(name)
    if (this.#below.size > before) this.listener.hint(null)
  }

  close(): void {
    this.#watcher?.close()
    this.#lookout?.close()
    this.#closeBelow()
    this.#watcher = null
    this.#lookout = null
  }

  get #name(): string {
    return Buffer.from(basename(this.folder)).toString('latin1')
  }

  #closeBelow(): void {
    for (const { watcher } of this.#below.values()) watcher.close()
    this.#below.clear()
  }

  #followOne(name: string): void {
    if (this.#below.has(name)) return
    const path = pathBelow(this.folder, name)
    const identity = identityOf(path)
    if (identity === null) return
    const watcher = this.#open(path, (file) => this.#noticed(name, file))
    if (watcher !== null) this.#below.set(name, { watcher, identity })
  }

  /**
   * A folder's own name is told when it goes or is moved. Its watch may be dead by then, and the
   * folder made in its place may have its inode: so the watch is made anew.
   */
  #gone(below: string): void {
    this.listener.hint(null)
    if (below === '') {
      this.#watcher?.close()
      this.#watcher = null
      this.#identity = null
      return this.check()
    }
    this.#below.get(below)?.watcher.close()
    this.#below.delete(below)
  }

  #noticed(below: string, name: string | null): void {
    if (name === null) return this.listener.hint(null)
    const path = below === '' ? name : `${below}/${name}`
    if (isImageName(name)) return this.listener.hint(path)
    if (name === (below === '' ? this.#name : posix.basename(below))) return this.#gone(below)
    this.check()
    if (this.#recursive && isFolder(pathBelow(this.folder, path))) this.listener.hint(null)
  }

  #open(path: Path, onName: (name: string | null) => void): FSWatcher | null {
    try {
      const watcher = watch(path, { encoding: 'latin1' }, (_event, name) => onName(name))
      watcher.on('error', () => {
        watcher.close()
        this.#identity = null
        this.#blind = true
        this.listener.blind()
      })
      return watcher
    } catch {
      this.#blind = true
      this.listener.blind()
      return null
    }
  }
}

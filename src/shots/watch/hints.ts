/**
 * Kernel notices about a folder, used as hints alone: a notice says that a look is worth while, the
 * look decides. The folder and its parent are watched, one watch each, so that a folder that is
 * removed, made again or renamed is noticed; a stat every second finds what the notices missed.
 */
import { statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isImageName } from '../scan/walk.js'

/** Who is told. */
export interface HintListener {
  /** A file was noticed, latin1 below the root; null: something about the folder itself. */
  hint(name: string | null): void
  /** Notices cannot be had (a limit of the system, a file system without them). */
  blind(): void
}

/** Folders below the root that are watched too, when the walk is recursive. */
const foldersMax = 512

const identityOf = (path: string): string | null => {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat?.isDirectory() === true ? `${stat.dev}:${stat.ino}` : null
}

const quietIdentity = (path: string): string | null => {
  try {
    return identityOf(path)
  } catch {
    return null
  }
}

/** Watches one root. Closed, it tells nothing any more. */
export class FolderHints {
  #root: FSWatcher | null = null
  #parent: FSWatcher | null = null
  /** Device and inode of what `#root` watches. */
  #identity: string | null = null
  #parentIdentity: string | null = null
  readonly #below = new Map<string, FSWatcher>()
  #blind = false

  constructor(readonly root: string, readonly listener: HintListener) {
    this.check()
  }

  /** True where a look now and then is all there is. */
  get isBlind(): boolean {
    return this.#blind
  }

  /** Watches what is at the path now; tells when that is another folder than before. */
  check(): void {
    const parent = dirname(this.root)
    const parentNow = quietIdentity(parent)
    if (parentNow !== this.#parentIdentity) {
      this.#parent?.close()
      this.#parent = parentNow === null ? null : this.#open(parent, (name) => {
        if (name === null || name === this.#name) this.check()
      })
      this.#parentIdentity = parentNow
    }
    const now = quietIdentity(this.root)
    if (now === this.#identity) return
    this.#root?.close()
    this.#closeBelow()
    this.#root = now === null ? null : this.#open(this.root, (name) => this.#noticed('', name))
    this.#identity = now
    this.listener.hint(null)
  }

  /** Watches these folders below the root as well, and no others. */
  follow(folders: readonly string[]): void {
    const wanted = new Set(folders.slice(0, foldersMax))
    for (const [name, watcher] of this.#below) {
      if (wanted.has(name)) continue
      watcher.close()
      this.#below.delete(name)
    }
    for (const name of wanted) {
      if (this.#below.has(name)) continue
      const path = Buffer.from(name, 'latin1').toString('utf8')
      const watcher = this.#open(`${this.root}/${path}`, (file) => this.#noticed(name, file))
      if (watcher !== null) this.#below.set(name, watcher)
    }
  }

  close(): void {
    this.#root?.close()
    this.#parent?.close()
    this.#closeBelow()
    this.#root = null
    this.#parent = null
  }

  get #name(): string {
    return Buffer.from(basename(this.root)).toString('latin1')
  }

  #closeBelow(): void {
    for (const watcher of this.#below.values()) watcher.close()
    this.#below.clear()
  }

  #noticed(below: string, name: string | null): void {
    if (name === null) return this.listener.hint(null)
    if (isImageName(name)) this.listener.hint(below === '' ? name : `${below}/${name}`)
    // A folder's own name is told when it goes or is moved; so is a new folder's below it.
    else this.check()
  }

  #open(path: string, onName: (name: string | null) => void): FSWatcher | null {
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

/**
 * What is in an image root: regular files whose extension says that they may be an image (S-001).
 * Links are not followed, names that begin with a dot are left out, and nothing is opened. A folder
 * of 100,000 files is walked with one `lstat` a file and no object kept for any of them.
 */
import { lstatSync, readdirSync, type Dirent } from 'node:fs'
import { shotLimits } from '../constants.js'
import { pathBelow } from './names.js'

/** Facts of a file that say whether it is still the one that was read. */
export interface FileStamp {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
}

const fields = 4
const firstCapacity = 1_024

/** Files of one walk, in the order in which the file system named them. */
export class Listing {
  /** Paths below the root, latin1. */
  readonly names: string[] = []
  /** Files that could not be looked at: they are told, never guessed about. */
  readonly unreadable: string[] = []
  /** Folders below the root that were entered, latin1; the root itself is not among them. */
  readonly folders: string[] = []
  #stamps = new Float64Array(firstCapacity * fields)

  get count(): number {
    return this.names.length
  }

  add(name: string, { size, mtimeMs, ctimeMs, ino }: FileStamp): void {
    const at = this.names.length * fields
    if (at + fields > this.#stamps.length) {
      const larger = new Float64Array(this.#stamps.length * 2)
      larger.set(this.#stamps)
      this.#stamps = larger
    }
    this.#stamps[at] = size
    this.#stamps[at + 1] = mtimeMs
    this.#stamps[at + 2] = ctimeMs
    this.#stamps[at + 3] = ino
    this.names.push(name)
  }

  nameOf(file: number): string {
    return this.names[file] as string
  }

  stampOf(file: number): FileStamp {
    const at = file * fields
    return {
      size: this.#stamps[at] as number,
      mtimeMs: this.#stamps[at + 1] as number,
      ctimeMs: this.#stamps[at + 2] as number,
      ino: this.#stamps[at + 3] as number,
    }
  }

  /** The four numbers of each file after one another: size, both times, inode. */
  get stamps(): Float64Array {
    return this.#stamps
  }
}

const imageName = /\.(?:png|jpe?g)$/i

/** Whether a name may be an image's, by its extension in any letter case (S-001). */
export const isImageName = (name: string): boolean => imageName.test(name)

const hidden = (name: string): boolean => name.charCodeAt(0) === 0x2e

const addFile = (listing: Listing, root: string, name: string): void => {
  try {
    const stat = lstatSync(pathBelow(root, name), { throwIfNoEntry: false })
    if (stat?.isFile() === true) listing.add(name, stat)
  } catch {
    listing.unreadable.push(name)
  }
}

const flat = (listing: Listing, root: string): void => {
  for (const name of readdirSync(root, 'latin1')) {
    if (!hidden(name) && isImageName(name)) addFile(listing, root, name)
  }
}

/** Some file systems do not say in the folder what an entry is. */
const isFolder = (entry: Dirent, root: string, name: string): boolean => {
  if (entry.isDirectory()) return true
  const told = entry.isFile() || entry.isSymbolicLink() || entry.isFIFO() || entry.isSocket()
    || entry.isBlockDevice() || entry.isCharacterDevice()
  return !told && lstatSync(pathBelow(root, name), { throwIfNoEntry: false })?.isDirectory() === true
}

const entriesOf = (listing: Listing, root: string, below: string): Dirent[] => {
  try {
    const path = below === '' ? root : pathBelow(root, below)
    return readdirSync(path, { encoding: 'latin1', withFileTypes: true })
  } catch (error) {
    if (below === '') throw error
    listing.unreadable.push(below)
    return []
  }
}

const deep = (listing: Listing, root: string, below: string, depth: number): void => {
  for (const entry of entriesOf(listing, root, below)) {
    if (hidden(entry.name)) continue
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (isFolder(entry, root, name)) {
      if (depth >= shotLimits.recursiveDepthMax) continue
      listing.folders.push(name)
      deep(listing, root, name, depth + 1)
    } else if (isImageName(entry.name)) {
      addFile(listing, root, name)
    }
  }
}

/**
 * Lists a root. `recursive` enters folders to a depth of eight. Throws the system's error when the
 * root itself cannot be read; a folder below it that cannot is among `unreadable`.
 */
export const walkRoot = (root: string, recursive: boolean): Listing => {
  const listing = new Listing()
  if (recursive) deep(listing, root, '', 0)
  else flat(listing, root)
  return listing
}
